"""The rights in deploy/rbac are sufficient for an agent, and grant nothing else on the hub."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from agent import Agent
from api import names
from api.kinds import CONFIG_MAP, MEMBER_CLUSTER, NAMESPACE, SECRET, WORK
from hub import Forbidden, Hub
from tests.agent.credentials import ON_HUB, ON_MEMBER, grant, of_account
from tests.agent.support import Member, config_map, entry, namespace
from tests.agent.test_membership import heartbeat
from tests.support.conditions import conditions_of
from tests.support.eventually import eventually
from tests.support.running import running


@pytest.fixture
async def least(
    member: Member,
    hub_kubeconfig: Path,
    member_kubeconfig: Callable[[str], Awaitable[Path]],
    tmp_path: Path,
) -> AsyncIterator[tuple[Hub, Hub]]:
    """Clients of hub and member with exactly the rights of the shipped files."""
    await grant(member.hub, ON_HUB, member=member.name)
    await grant(member.cluster, ON_MEMBER)
    for_hub = await of_account(
        hub_kubeconfig, member.hub, member.name, namespace="fleetgate-agents", folder=tmp_path
    )
    for_member = await of_account(
        await member_kubeconfig("agents"),
        member.cluster,
        "fleetgate-agent",
        namespace="fleetgate",
        folder=tmp_path,
    )
    async with await Hub.connect(for_hub) as hub, await Hub.connect(for_member) as cluster:
        yield hub, cluster


async def test_an_agent_needs_no_more_rights_than_the_shipped_ones(
    member: Member, unique: str, least: tuple[Hub, Hub]
) -> None:
    hub, cluster = least
    ns = f"{unique}-ns"
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": unique},
        "rules": [{"nonResourceURLs": ["*"], "verbs": ["*"]}],
    }
    async with running(Agent(member=member.name, hub=hub, cluster=cluster)):
        await eventually(lambda: heartbeat(member))
        await member.put(unique, namespace(ns), config_map("cm", ns, key="1"), role)
        await member.reported(unique)
        await member.put(unique, namespace(ns), config_map("other", ns, key="2"))
        await member.reported(unique)
        await member.hub.delete(WORK, unique, namespace=member.namespace)
        await member.gone(unique)
    assert await member.cluster.find(NAMESPACE, ns) is None


async def test_an_agent_cannot_access_anything_else_on_the_hub(
    member: Member, unique: str, least: tuple[Hub, Hub]
) -> None:
    hub, _ = least
    other = names.member_namespace(f"{unique}-other")
    body = {"metadata": {"name": "cm", "namespace": member.namespace}}
    attempts = [
        hub.list(WORK, namespace=other),
        hub.list(WORK),
        hub.create(WORK, body | {"spec": {}}),
        hub.delete(WORK, "cm", namespace=member.namespace),
        hub.list(MEMBER_CLUSTER),
        hub.get(MEMBER_CLUSTER, f"{unique}-other"),
        hub.patch(MEMBER_CLUSTER, member.name, {"spec": {"taints": []}}),
        hub.delete(MEMBER_CLUSTER, member.name),
        hub.list(SECRET, namespace=member.namespace),
        hub.list(CONFIG_MAP, namespace=member.namespace),
        hub.list(NAMESPACE),
    ]
    for attempt in attempts:
        with pytest.raises(Forbidden):
            await attempt


async def test_a_kind_that_the_agent_may_not_read_does_not_affect_others(
    member: Member,
    unique: str,
    member_kubeconfig: Callable[[str], Awaitable[Path]],
    tmp_path: Path,
) -> None:
    ns = f"{unique}-ns"
    await member.cluster.create(NAMESPACE, namespace(ns))
    await _narrow_account(member.cluster, unique, ns)
    file = await of_account(
        await member_kubeconfig("agents"), member.cluster, unique, namespace=ns, folder=tmp_path
    )
    hidden = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "a", "namespace": ns}}
    async with (
        await Hub.connect(file) as cluster,
        running(Agent(member=member.name, hub=member.hub, cluster=cluster)),
    ):
        await member.put(unique, hidden, config_map("cm", ns, key="1"))
        work = await member.reported(unique, available=None)
    said = conditions_of(entry(work))["Applied"]
    assert said["reason"] == "FailedToFindObjInMemberCluster"
    assert said["message"].startswith(
        "Failed to apply the manifest (error: failed to find the corresponding object for the "
        "manifest object in the member cluster: error returned by the API server: limitranges "
        '"a" is forbidden'
    )
    assert conditions_of(entry(work, 1))["Applied"]["status"] == "True"


async def _narrow_account(cluster: Hub, name: str, ns: str) -> None:
    """Create a ServiceAccount that may place ConfigMaps and nothing else."""
    verbs = ["get", "list", "watch", "create", "patch", "delete"]
    rules = [
        {
            "apiGroups": ["placement.kubernetes-fleet.io"],
            "resources": ["appliedworks", "appliedworks/status"],
            "verbs": verbs,
        },
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs},
    ]
    rbac = "rbac.authorization.k8s.io"
    subject = {"kind": "ServiceAccount", "name": name, "namespace": ns}
    role = {"apiGroup": rbac, "kind": "ClusterRole", "name": name}
    for api_version, kind, body in (
        ("v1", "ServiceAccount", {"metadata": {"name": name, "namespace": ns}}),
        (f"{rbac}/v1", "ClusterRole", {"metadata": {"name": name}, "rules": rules}),
        (
            f"{rbac}/v1",
            "ClusterRoleBinding",
            {"metadata": {"name": name}, "roleRef": role, "subjects": [subject]},
        ),
    ):
        served = await cluster.kind_for(api_version, kind)
        assert served is not None
        await cluster.create(served, body)
