"""Policy snapshots, decisions and bindings (contract: placement 4, 6, 11)."""

from api import names
from api.kinds import MEMBER_CLUSTER, NAMESPACE
from tests.placement.scheduled import latest_policy
from tests.placement.world import Json, World
from tests.support.conditions import condition_of
from tests.support.eventually import eventually


def picked(member: str) -> str:
    return (
        f'Successfully scheduled resources for placement in "{member}" '
        "(affinity score: 0, topology spread score: 0): picked by scheduling policy"
    )


async def test_a_placement_gets_finalizers_a_policy_snapshot_and_bindings(world: World) -> None:
    member = await world.join("a")
    placement = await world.place()
    binding = await world.binding(member)
    await world.told("Scheduled", status="True")

    assert (await world.placement() or {})["metadata"]["finalizers"] == [
        "kubernetes-fleet.io/crp-cleanup",
        "kubernetes-fleet.io/scheduler-cleanup",
    ]
    (policy,) = await world.policies()
    assert policy["metadata"]["name"] == f"{world.name}-0"
    assert policy["metadata"]["labels"] == {
        "kubernetes-fleet.io/parent-CRP": world.name,
        "kubernetes-fleet.io/is-latest-snapshot": "true",
        "kubernetes-fleet.io/policy-index": "0",
    }
    assert policy["metadata"]["annotations"] == {"kubernetes-fleet.io/CRP-generation": "1"}
    assert policy["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": world.scope.placement.kind,
            "name": world.name,
            "uid": placement["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]
    assert policy["spec"]["policy"] == world.pick_all()
    assert policy["status"]["observedCRPGeneration"] == 1
    decision = {
        "clusterName": member,
        "clusterScore": {"affinityScore": 0, "priorityScore": 0},
        "reason": picked(member),
        "selected": True,
    }
    assert policy["status"]["targetClusters"][0] == decision
    said = condition_of(policy, "Scheduled")
    assert (said["reason"], said["status"]) == ("SchedulingPolicyFulfilled", "True")
    assert said["message"].endswith("found 1 cluster(s)")

    assert binding["metadata"]["labels"] == {"kubernetes-fleet.io/parent-CRP": world.name}
    assert binding["metadata"]["generation"] == 1
    assert binding["spec"] == {
        "clusterDecision": decision,
        "resourceSnapshotName": "",
        "schedulingPolicySnapshotName": f"{world.name}-0",
        "state": "Scheduled",
        "targetCluster": member,
    }


async def test_a_member_that_joins_later_is_picked(world: World) -> None:
    await world.join("a")
    await world.place()
    await world.told("Scheduled", status="True")

    later = await world.join("b")

    assert (await world.binding(later))["spec"]["state"] == "Scheduled"
    await eventually(lambda: _listed(world, later))


async def test_a_member_without_an_agent_is_not_picked_until_it_has_one(world: World) -> None:
    silent = await world.join("a", online=False)
    await world.place(world.pick_fixed(silent))
    await world.told("Scheduled", status="False")

    (policy,) = await world.policies()
    (decision,) = policy["status"]["targetClusters"]
    assert decision["reason"] == (
        f'Cluster "{silent}" is not eligible for resource placement yet: '
        "cluster is not connected to the fleet: member agent not online yet"
    )
    assert await world.bindings() == []

    await world.beat(silent)
    await world.binding(silent)


async def test_a_member_with_a_silent_agent_keeps_its_binding(world: World) -> None:
    member = await world.join("a")
    await world.place()
    binding = await world.binding(member)

    await world.beat(member, Joined="False")
    await world.change(policy=world.pick_all() | {"tolerations": [{"operator": "Exists"}]})

    async def repointed() -> bool:
        return bool(
            (await world.binding(member))["spec"]["schedulingPolicySnapshotName"]
            != binding["spec"]["schedulingPolicySnapshotName"]
        )

    await eventually(repointed)
    assert (await world.binding(member))["spec"]["state"] == "Scheduled"


async def test_a_fixed_policy_says_which_clusters_are_missing(world: World) -> None:
    member = await world.join("a")
    await world.place(world.pick_fixed(member, "nowhere"))

    said = await world.told("Scheduled", status="False", reason="SchedulingPolicyUnfulfilled")

    assert said["message"].endswith("found 1 cluster(s) instead")
    (binding,) = await world.bindings()
    assert binding["spec"]["clusterDecision"] == {
        "clusterName": member,
        "reason": f'Successfully scheduled resources for placement in "{member}": '
        "picked by scheduling policy",
        "selected": True,
    }
    entries = (await world.placement() or {})["status"]["placementStatuses"]
    assert [each.get("clusterName") for each in entries] == [member, None]
    assert entries[1]["conditions"][0]["message"] == 'Specified cluster "nowhere" is not found'
    assert entries[1]["conditions"][0]["reason"] == "ScheduleFailed"


async def test_a_policy_that_names_no_cluster_decides_nothing(world: World) -> None:
    first, second = [await world.known(name) for name in ("a", "b")]
    await world.place(world.pick_fixed(first, second))
    await world.told("Scheduled", status="True")
    before = await world.binding(first)

    await world.change(policy={"clusterNames": []})

    await world.told("Scheduled", status="Unknown", reason="SchedulePending", observedGeneration=2)
    latest = await eventually(lambda: latest_policy(world), lambda found: _index(found) == 1)
    # A leaving member is still unscheduled; once that is done, the policy has been processed.
    await world.hub.delete(MEMBER_CLUSTER, second)
    await eventually(lambda: _state(world, second, "Unscheduled"))
    assert await world.binding(first) == before
    assert await latest_policy(world) == latest
    assert latest is not None
    assert "status" not in latest


def _index(policy: Json | None) -> int:
    return -1 if policy is None else int(policy["metadata"]["labels"][names.POLICY_INDEX])


async def test_a_changed_policy_creates_a_snapshot_and_updates_every_binding(
    world: World,
) -> None:
    first, second, third = [await world.join(name) for name in ("a", "b", "c")]
    await world.place(world.pick_fixed(first, second))
    await world.binding(second)

    await world.change(policy={"clusterNames": [first, third]})

    await world.binding(third)
    await eventually(lambda: _state(world, second, "Unscheduled"))
    assert (await world.binding(second))["metadata"]["annotations"] == {
        names.PREVIOUS_BINDING_STATE: "Scheduled"
    }
    await eventually(lambda: _points_at(world, first, 1))
    marks = {
        each["metadata"]["name"]: each["metadata"]["labels"][names.IS_LATEST_SNAPSHOT]
        for each in await world.policies()
    }
    assert marks == {f"{world.name}-0": "false", f"{world.name}-1": "true"}

    await world.change(policy={"clusterNames": [first, second]})

    await eventually(lambda: _state(world, second, "Scheduled"))
    restored = await world.binding(second)
    assert names.PREVIOUS_BINDING_STATE not in restored["metadata"].get("annotations", {})


async def test_other_changes_keep_the_policy_snapshot(world: World) -> None:
    member = await world.join("a")
    await world.place()
    binding = await world.binding(member)

    await world.change(revisionHistoryLimit=3)

    await world.told("Scheduled", status="True", observedGeneration=2)
    (policy,) = await world.policies()
    assert policy["metadata"]["annotations"] == {names.CRP_GENERATION: "2"}
    assert await world.binding(member) == binding


async def test_a_member_that_leaves_and_rejoins(world: World) -> None:
    member = await world.join("a")
    await world.place()
    await world.snapshot(0)
    await world.roll_out(member)
    await world.report(member)
    await world.bound(member, "Available", status="True")
    uid = (await world.binding(member))["metadata"]["uid"]

    await world.hub.delete(MEMBER_CLUSTER, member)
    await eventually(lambda: _state(world, member, "Unscheduled"))
    await world.beat(member, Joined="False")
    await eventually(lambda: _gone(world, member))

    failed = await world.bound(member, "WorkSynchronized", status="False")
    said = condition_of(failed, "WorkSynchronized")
    assert said["message"] == (
        "Failed to synchronize the work to the latest: "
        f'namespaces "{names.member_namespace(member)}" not found'
    )

    await world.join("a")
    await eventually(lambda: _state(world, member, "Bound"))
    assert (await world.binding(member))["metadata"]["uid"] == uid
    namespace = names.member_namespace(member)
    await eventually(lambda: world.hub.find(NAMESPACE, namespace))


async def _state(world: World, member: str, state: str) -> bool:
    return bool((await world.binding(member))["spec"]["state"] == state)


async def _points_at(world: World, member: str, index: int) -> bool:
    spec = (await world.binding(member))["spec"]
    return bool(spec["schedulingPolicySnapshotName"] == f"{world.name}-{index}")


async def _listed(world: World, member: str) -> bool:
    entries = (await world.placement() or {})["status"]["placementStatuses"]
    return member in [each.get("clusterName") for each in entries]


async def _gone(world: World, member: str) -> bool:
    return await world.hub.find(MEMBER_CLUSTER, member) is None
