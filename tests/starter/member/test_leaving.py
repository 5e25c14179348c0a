"""`fleetgate member leave`, `list` and `show`."""

from datetime import UTC, datetime

import pytest

from api.kinds import CLUSTER_RESOURCE_BINDING, MEMBER_CLUSTER, SECRET, SERVICE_ACCOUNT
from api.members import MemberCluster
from api.names import PARENT_PLACEMENT
from deploy.joining import ACCOUNTS, AGENT_NAMESPACE, HUB_SECRET, MEMBER_SECRETS
from hub import Hub
from planning.members import member_conditions
from tests.starter.member.conftest import Member
from tests.starter.member.test_joining import JOIN, registered

pytestmark = [
    pytest.mark.xdist_group("joining"),
    pytest.mark.alone("they join one cluster in turn"),
]

LEAVE = ("--context", "joining")


async def test_leave_removes_everything_that_join_created(
    member: Member, hub: Hub, joining_cluster: Hub, unique: str
) -> None:
    assert (await member("join", unique, *JOIN)).code == 0

    done = await member("leave", unique, *LEAVE)

    assert done.code == 0, done.err
    assert "to uninstall the agent:\nhelm uninstall fleetgate-agent" in done.out
    assert await hub.find(MEMBER_CLUSTER, unique) is None
    assert await hub.find(SERVICE_ACCOUNT, unique, namespace=ACCOUNTS) is None
    assert await hub.find(SECRET, f"{unique}-token", namespace=ACCOUNTS) is None
    assert await joining_cluster.find(SECRET, HUB_SECRET, namespace=AGENT_NAMESPACE) is None
    again = await member("leave", unique, *LEAVE)
    assert (again.code, "nothing that joining created for it" in again.err) == (3, True)


async def test_leave_continues_where_an_earlier_one_ended(
    member: Member, hub: Hub, unique: str
) -> None:
    await member("join", unique, *JOIN, "--by-secret", "--token-duration", "24h")
    await hub.delete(MEMBER_CLUSTER, unique)

    done = await member("leave", unique)

    assert done.code == 0, done.err
    assert await hub.find(SECRET, unique, namespace=MEMBER_SECRETS) is None
    assert "ServiceAccount fleetgate-agent is left in namespace fleetgate" in done.out
    rest = await member("leave", unique, *LEAVE)
    assert rest.code == 0, rest.err
    assert "clusterrole.rbac.authorization.k8s.io/fleetgate-agent deleted" in rest.out


async def test_a_wrong_context_of_the_member_deletes_nothing(
    member: Member, hub: Hub, unique: str
) -> None:
    before = await registered(hub, unique)

    done = await member("leave", unique, "--context", "none")

    assert (done.code, "has no context 'none' (it has: hub, joining)" in done.err) == (2, True)
    assert await hub.get(MEMBER_CLUSTER, unique) == before


async def test_a_member_that_placements_pick_leaves_only_with_yes(
    member: Member, hub: Hub, unique: str
) -> None:
    await registered(hub, unique)
    labels = {PARENT_PLACEMENT: f"{unique}-app"}
    await hub.create(
        CLUSTER_RESOURCE_BINDING,
        {
            "metadata": {"name": unique, "labels": labels},
            "spec": {
                "state": "Bound",
                "resourceSnapshotName": "",
                "schedulingPolicySnapshotName": "",
                "targetCluster": unique,
                "clusterDecision": {"clusterName": unique, "selected": True, "reason": ""},
            },
        },
    )

    refused = await member("leave", unique)

    assert refused.code == 1
    assert f"placements still pick {unique}: {unique}-app" in refused.err
    assert await hub.find(MEMBER_CLUSTER, unique) is not None
    assert (await member("leave", unique, "--yes")).code == 0
    assert await hub.find(MEMBER_CLUSTER, unique) is None
    await hub.delete(CLUSTER_RESOURCE_BINDING, unique)


async def test_a_member_that_the_hub_does_not_release_is_reported(
    member: Member, hub: Hub, unique: str
) -> None:
    await registered(hub, unique)
    await hub.patch(MEMBER_CLUSTER, unique, {"metadata": {"finalizers": ["example.org/held"]}})

    done = await member("leave", unique, "--timeout", "100ms")

    assert done.code == 1
    assert f"{unique} is still leaving after 100ms" in done.err
    assert f"{unique}  Leaving" in (await member("list")).out
    await hub.patch(MEMBER_CLUSTER, unique, {"metadata": {"finalizers": []}})


async def test_list_and_show_tell_whether_a_member_can_be_picked(
    member: Member, hub: Hub, unique: str
) -> None:
    body = await registered(hub, unique)
    taint = {"key": "a", "value": "b", "effect": "NoSchedule"}
    change = {"metadata": {"labels": {"environment": "prod"}}, "spec": {"taints": [taint]}}
    await hub.patch(MEMBER_CLUSTER, unique, change)
    before = await member("show", unique)
    status = member_conditions.alive(MemberCluster.from_wire(body), now=datetime.now(UTC))
    await hub.patch(MEMBER_CLUSTER, unique, {"status": status.to_wire()}, subresource="status")

    after = await member("show", unique)
    listed = (await member("list")).out.splitlines()

    assert "placements  cannot pick it: cluster is not connected to the fleet" in before.out
    assert "placements  can pick it" in after.out
    assert f"agent       User {unique}-agent" in after.out
    (row,) = (line.split() for line in listed if line.startswith(unique))
    assert [row[1], *row[-2:]] == ["True", "a=b:NoSchedule", "environment=prod"]
    named = await member("list", "-o", "name")
    assert f"membercluster.cluster.kubernetes-fleet.io/{unique}" in named.out.splitlines()
