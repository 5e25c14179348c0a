"""Sections 7.1 to 7.3: placement, policy snapshot and bindings at initialization."""

import pytest

from hub import Json
from tests.conformance.objects import APPLY_DEFAULTS, NUMBER_OF_CLUSTERS, cluster_names, stage
from tests.conformance.pace import QUIET
from tests.conformance.runs import Run
from tests.conformance.texts import E_UNEXP, E_USER, E_VALID
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.hand_placement import LATEST, PICK_ALL, POLICY_INDEX

PICK_2: Json = {"placementType": "PickN", "numberOfClusters": 2}


async def refused(world: World, error: str) -> Json:
    """Create a run in the current world, and check the message with which it is refused."""
    await world.strategy(stage())
    run = await Run.create(world)
    status: Json = (await run.is_refused(error))["status"]
    return status


# -- 7.1 placement -------------------------------------------------------------------------


async def test_7_1_a_missing_placement_is_a_user_error(world: World) -> None:
    status = await refused(world, f"{E_VALID}: {E_USER}: parent placement not found")
    assert list(status) == ["conditions"]


async def test_7_1_a_placement_without_external_strategy_is_refused(world: World) -> None:
    await world.place("a", strategy={"type": "RollingUpdate"})
    text = (
        "parent placement does not have an external rollout strategy, "
        "current strategy: RollingUpdate"
    )
    status = await refused(world, f"{E_VALID}: {E_USER}: {text}")
    assert list(status) == ["conditions"]


async def test_7_1_a_placement_without_a_strategy_is_refused(world: World) -> None:
    await world.place("a", strategy={})
    text = (
        "parent placement does not have an external rollout strategy, "
        "current strategy: RollingUpdate"
    )
    await refused(world, f"{E_VALID}: {E_USER}: {text}")


async def test_7_1_the_apply_strategy_is_recorded_with_its_defaults(world: World) -> None:
    await world.place("a")
    await world.strategy(stage())
    run = await Run.create(world, state="Initialize")
    seen = await run.comes_to(Says.RUN_INITIALIZED)
    assert seen["status"]["appliedStrategy"] == APPLY_DEFAULTS


async def test_7_1_the_apply_strategy_of_the_placement_is_recorded(world: World) -> None:
    applying = {"type": "ServerSideApply", "serverSideApplyConfig": {"force": True}}
    await world.place("a", strategy={"type": "External", "applyStrategy": applying})
    await world.strategy(stage())
    run = await Run.create(world, state="Initialize")
    seen = await run.comes_to(Says.RUN_INITIALIZED)
    recorded = seen["status"]["appliedStrategy"]
    assert recorded == APPLY_DEFAULTS | applying


# -- 7.2 policy snapshot -------------------------------------------------------------------


async def test_7_2_a_placement_without_a_policy_snapshot_is_refused(world: World) -> None:
    await world.placement()
    key = world.key(world.name)
    status = await refused(world, f"{E_VALID}: no latest policy snapshot found for placement {key}")
    assert sorted(status) == ["appliedStrategy", "conditions"]


async def test_7_2_a_policy_snapshot_that_is_not_the_latest_does_not_count(world: World) -> None:
    await world.place("a")
    await world.outdate_policy(0)
    key = world.key(world.name)
    await refused(world, f"{E_VALID}: no latest policy snapshot found for placement {key}")


async def test_7_2_several_latest_policy_snapshots_are_unexpected(world: World) -> None:
    await world.place("a")
    await world.hand.policy(1)
    text = f"multiple active policy snapshots found for placement {world.key(world.name)}"
    await refused(world, f"{E_VALID}: {E_UNEXP}: {text}: got 2, want 1")


@pytest.mark.parametrize("index", [None, ""], ids=["without", "empty"])
async def test_7_2_a_policy_snapshot_without_an_index_is_unexpected(
    world: World, index: str | None
) -> None:
    await world.place("a")
    name = f"{world.name}-0"
    await world.relabel(world.scope.policy_snapshot, name, {POLICY_INDEX: index})
    text = f"policy snapshot `{world.key(name)}` does not have a policy index label"
    status = await refused(world, f"{E_VALID}: {E_UNEXP}: {text}")
    assert "policySnapshotIndexUsed" not in status


@pytest.mark.parametrize(
    ("count", "why"),
    [
        (None, f"cannot find annotation {NUMBER_OF_CLUSTERS}"),
        (
            "two",
            (
                f"invalid annotation {NUMBER_OF_CLUSTERS}: two is not a valid count: "
                'strconv.Atoi: parsing "two": invalid syntax'
            ),
        ),
    ],
    ids=["without", "not a number"],
)
async def test_7_2_a_pick_n_policy_without_a_count_is_unexpected(
    world: World, count: str | None, why: str
) -> None:
    """The only message that is joined with a comma."""
    await world.place("a", policy=PICK_2)
    name = f"{world.name}-0"
    if count:
        patch = {"metadata": {"annotations": {NUMBER_OF_CLUSTERS: count}}}
        await world.patch(world.scope.policy_snapshot, name, patch)
    text = f"the policy snapshot `{world.key(name)}` doesn't have valid cluster count annotation"
    status = await refused(world, f"{E_VALID}, {E_UNEXP}: {why}: {text}")
    assert status["policySnapshotIndexUsed"] == "0"


@pytest.mark.parametrize("scheduled", ["", "False", "Unknown"])
async def test_7_2_a_policy_that_is_not_scheduled_yet_is_refused(
    world: World, scheduled: str
) -> None:
    await world.placement()
    await world.hand.policy(0, policy=PICK_ALL, scheduled=scheduled)
    status = await refused(
        world, f"{E_VALID}: policy snapshot `{world.name}-0` not fully scheduled yet"
    )
    assert status["policySnapshotIndexUsed"] == "0"
    assert status["policyObservedClusterCount"] == -1, "no bindings were counted"


async def test_7_2_a_policy_scheduled_for_another_generation_is_refused(world: World) -> None:
    await world.placement()
    await world.hand.policy(0, policy=PICK_ALL, scheduled="")
    await world.hand.say_scheduled(0, "True", generation=7)
    await refused(world, f"{E_VALID}: policy snapshot `{world.name}-0` not fully scheduled yet")


# -- 7.3 bindings --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "count"),
    [
        (None, 2),
        (PICK_ALL, 2),
        (PICK_2, 2),
        ({"placementType": "PickFixed", "clusterNames": ["x", "y"]}, 2),
    ],
    ids=["none", "PickAll", "PickN", "PickFixed"],
)
async def test_7_3_the_run_covers_as_many_clusters_as_the_policy_picks(
    world: World, policy: Json | None, count: int
) -> None:
    await world.placement()
    await world.hand.policy(0, policy=policy, annotations={NUMBER_OF_CLUSTERS: "2"})
    await world.hand.snapshot(0)
    for short, state in (("a", "Scheduled"), ("b", "Bound")):
        await world.member(short, {"stage": "one"})
        await world.binding(short, state=state)
    await world.strategy(stage())
    run = await Run.create(world, state="Initialize")
    seen = await run.comes_to(Says.RUN_INITIALIZED)
    assert cluster_names(seen) == world.clusters("ab")
    assert seen["status"]["policyObservedClusterCount"] == count
    assert seen["status"]["policySnapshotIndexUsed"] == "0"


async def test_7_3_a_run_without_any_bindings_is_refused(world: World) -> None:
    await world.place("")
    key = world.key(f"{world.name}-0")
    status = await refused(
        world,
        f"{E_VALID}: no scheduled or to-be-deleted bindings found for the latest policy snapshot "
        f"{key}",
    )
    assert "stagedUpdateStrategySnapshot" not in status


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [(PICK_2, 2), ({"placementType": "PickFixed", "clusterNames": ["x", "y", "z"]}, 3)],
    ids=["PickN", "PickFixed"],
)
async def test_7_3_a_number_of_bindings_other_than_the_picked_one_is_unexpected(
    world: World, policy: Json, wanted: int
) -> None:
    await world.place("")
    await world.outdate_policy(0)
    await world.hand.policy(1, policy=policy, annotations={NUMBER_OF_CLUSTERS: "2"})
    await world.member("a", {"stage": "one"})
    await world.binding("a", policy=1)
    text = f"the number of selected bindings 1 is not equal to the observed cluster count {wanted}"
    status = await refused(world, f"{E_VALID}: {E_UNEXP}: {text}")
    assert status["policyObservedClusterCount"] == wanted


async def test_7_3_unscheduled_bindings_of_any_policy_are_to_be_deleted(world: World) -> None:
    await world.place("a")
    await world.outdate_policy(0)
    await world.hand.policy(1)
    patch = {"schedulingPolicySnapshotName": f"{world.name}-1"}
    await world.change_binding("a", **patch)
    await world.binding("b", policy=1, state="Unscheduled")
    await world.binding("c", policy=0, state="Unscheduled")
    await world.strategy(stage())
    run = await Run.create(world, state="Initialize")
    seen = await run.comes_to(Says.RUN_INITIALIZED)
    assert cluster_names(seen) == world.clusters("a")
    assert cluster_names(seen, -1) == world.clusters("bc")
    assert seen["status"]["policyObservedClusterCount"] == 1


@pytest.mark.parametrize("state", ["Scheduled", "Bound"])
async def test_7_3_a_binding_of_an_old_policy_is_waited_for_without_a_condition(
    world: World, state: str
) -> None:
    await world.place("a")
    await world.binding("b", policy=7, state=state)
    await world.member("b", {"stage": "one"})
    await world.strategy(stage())
    run = await Run.create(world, state="Initialize")
    await world.throughout(
        world.scope.run, run.name, lambda seen: seen and "status" not in seen, seconds=2 * QUIET
    )
    await world.change_binding("b", schedulingPolicySnapshotName=f"{world.name}-0")
    seen = await run.comes_to(Says.RUN_INITIALIZED)
    assert cluster_names(seen) == world.clusters("ab")


async def test_7_3_earlier_checks_come_before_the_bindings(world: World) -> None:
    """A binding of an old policy does not keep a run from being refused for an earlier reason."""
    await world.place("a", strategy={"type": "RollingUpdate"})
    await world.binding("b", policy=7)
    text = (
        "parent placement does not have an external rollout strategy, "
        "current strategy: RollingUpdate"
    )
    await refused(world, f"{E_VALID}: {E_USER}: {text}")


async def test_7_3_a_binding_of_another_placement_does_not_count(world: World) -> None:
    await world.place("a")
    await world.binding("b")
    label = {"kubernetes-fleet.io/parent-CRP": "another"}
    await world.relabel(world.scope.binding, world.binding_name("b"), label)
    await world.strategy(stage())
    run = await Run.create(world, state="Initialize")
    seen = await run.comes_to(Says.RUN_INITIALIZED)
    assert cluster_names(seen) == world.clusters("a")
    assert LATEST not in seen["metadata"].get("labels", {})
