"""Section 8.4: what a run writes to a binding, step by step; 8.6a: when others write to it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from hub import Json
from tests.conformance.objects import (
    APPLY_DEFAULTS,
    stage,
    stage_of,
)
from tests.conformance.runs import Run
from tests.conformance.situations import in_flight, started
from tests.conformance.texts import E_ABORT
from tests.conformance.vocabulary import Says
from tests.conformance.waiting import states
from tests.conformance.world import World
from tests.support.conditions import condition_of

LONG_AGO = "2020-01-01T00:00:00Z"
OTHER_STRATEGY = {**APPLY_DEFAULTS, "type": "ServerSideApply"}


async def prepared(world: World, shorts: str = "a", *, versions: int = 1, **fields: object) -> None:
    """Create a strategy of one stage with these clusters."""
    await world.place(shorts, versions=versions)
    await world.strategy(stage(**fields))


async def synced(world: World, short: str = "a", *, state: str = "Bound") -> Json:
    """Set a binding to the content of a later run, before that exists."""
    return await world.change_binding(
        short,
        resourceSnapshotName=world.hand.snapshot_name(0),
        applyStrategy=APPLY_DEFAULTS,
        state=state,
    )


# -- what is written -----------------------------------------------------------------------


async def test_8_4_the_binding_gets_the_content_and_nothing_else_changes(world: World) -> None:
    await prepared(world)
    before = await world.read_binding("a")
    run = await Run.create(world)
    after = await world.handed_out("a")
    assert after["spec"] == before["spec"] | {
        "state": "Bound",
        "resourceSnapshotName": world.hand.snapshot_name(0),
        "applyStrategy": APPLY_DEFAULTS,
    }
    announced = condition_of(after, "RolloutStarted")
    row = Says.BINDING_ROLLOUT_STARTED.value
    assert (announced["status"], announced["reason"]) == (row.status, row.reason)
    assert announced["message"] == row.message.replace("{index}", "0").replace("{run}", run.name)
    assert announced["observedGeneration"] == after["metadata"]["generation"]
    world.note(Says.BINDING_ROLLOUT_STARTED)


async def test_decision_17_the_announcement_is_written_before_the_content(world: World) -> None:
    await prepared(world)
    name = world.binding_name("a")
    async with aclosing(states(world.hub, world.scope.binding, name, world.namespace)) as each:
        first = await anext(each)
        assert first is not None
        await Run.create(world)
        announced, bound = await _next(each), await _next(each)
    generation = first["metadata"]["generation"]
    assert announced["metadata"]["generation"] == generation
    assert announced["spec"] == first["spec"]
    assert condition_of(announced, "RolloutStarted")["observedGeneration"] == generation + 1
    assert bound["metadata"]["generation"] == generation + 1
    assert bound["spec"]["state"] == "Bound"
    assert bound["status"] == announced["status"]


async def test_8_4_the_announcement_is_new_and_other_conditions_stay(world: World) -> None:
    await prepared(world)
    old = {"lastTransitionTime": LONG_AGO, "reason": "RolloutStarted", "message": "old"}
    kept = {**old, "type": "Applied", "status": "True", "observedGeneration": 1}
    stale = {**old, "type": "RolloutStarted", "status": "True", "observedGeneration": 1}
    name = world.binding_name("a")
    await world.patch_status(world.scope.binding, name, {"conditions": [stale, kept]})
    await Run.create(world)
    seen = await world.handed_out("a")
    assert condition_of(seen, "RolloutStarted")["lastTransitionTime"] > LONG_AGO
    assert condition_of(seen, "Applied") == kept


async def test_8_4_a_synced_binding_that_is_not_bound_is_bound(world: World) -> None:
    await prepared(world)
    before = await synced(world, state="Scheduled")
    await Run.create(world)
    after = await world.handed_out("a")
    assert after["metadata"]["generation"] == before["metadata"]["generation"] + 1
    assert after["spec"] == before["spec"] | {"state": "Bound"}


async def test_8_4_a_synced_and_bound_binding_is_only_announced(world: World) -> None:
    await prepared(world)
    before = await synced(world)
    await Run.create(world)
    after = await world.handed_out("a")
    assert after["metadata"]["generation"] == before["metadata"]["generation"]


async def test_8_4_a_binding_announced_for_its_generation_is_evaluated_as_it_is(
    world: World,
) -> None:
    await prepared(world)
    before = await synced(world)
    await world.report("a", "RolloutStarted")
    await world.report("a")
    before = await world.read_binding("a")
    run = await Run.create(world)
    seen = await run.succeeds()
    after = await world.read_binding("a")
    assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
    run.shows(seen, Says.CLUSTER_SUCCEEDED, part=run.cluster(seen, "a"))


async def test_decision_6_a_cluster_that_is_already_failing_is_started_and_becomes_stuck(
    world: World,
) -> None:
    await prepared(world)
    await synced(world)
    await world.report("a", "RolloutStarted")
    await world.report("a", "Applied", "False", "NotAllWorkHaveBeenApplied")
    run = await Run.create(world)
    seen = await run.cluster_comes_to(Says.CLUSTER_STARTED, "a")
    run.shows(seen, Says.RUN_PROGRESSING)
    await run.comes_to(Says.RUN_STUCK, clusters=world.cluster("a"), stage="one")


async def test_8_4_the_first_cluster_starts_its_stage(world: World) -> None:
    await prepared(world, "ab")
    run = await Run.create(world)
    await world.handed_out("a")
    seen = await run.cluster_comes_to(Says.CLUSTER_STARTED, "a")
    run.shows(seen, Says.STAGE_STARTED, part=stage_of(seen, 0))
    assert stage_of(seen, 0)["startTime"]
    assert "conditions" not in run.cluster(seen, "b")
    await world.report("a")
    again = await run.cluster_comes_to(Says.CLUSTER_STARTED, "b")
    assert stage_of(again, 0)["startTime"] == stage_of(seen, 0)["startTime"]


async def test_8_4_clusters_are_updated_in_the_order_of_the_stage(world: World) -> None:
    order = {"a": "3", "b": "1", "c": "2"}
    await world.place({short: {"stage": "one", "order": at} for short, at in order.items()})
    await world.strategy(stage(sortingLabelKey="order"))
    run = await Run.create(world)
    for short, later in (("b", "ca"), ("c", "a"), ("a", "")):
        await world.handed_out(short)
        await world.untouched(*later)
        await world.report(short)
    await run.succeeds()


async def test_8_4_a_later_run_updates_the_same_clusters_again(world: World) -> None:
    await prepared(world, "ab", versions=2)
    first = await Run.create(world, suffix="first", index="1")
    await world.update("a", "b", index=1)
    await first.succeeds()
    back = await Run.create(world, suffix="back", index="0")
    await world.update("a", "b", index=0)
    await back.succeeds()


# -- 8.6a others ---------------------------------------------------------------------------


async def is_preempted(run: Run) -> None:
    await run.is_preempted()
    await run.world.untouched("b")


async def test_8_6a_another_run_that_takes_over_the_cluster_fails_this_one(world: World) -> None:
    await prepared(world, "ab", versions=2)
    run = await Run.create(world, suffix="first")
    await world.handed_out("a")
    other = await Run.create(world, suffix="other", index="1")
    await is_preempted(run)
    await world.update("a", "b", index=1)
    await other.succeeds()


@pytest.mark.parametrize(
    "change",
    [
        {"resourceSnapshotName": "other"},
        {"applyStrategy": OTHER_STRATEGY},
        {"clusterResourceOverrideSnapshots": ["x-0"]},
        {"resourceOverrideSnapshots": [{"name": "x-0", "namespace": "x"}]},
        {"state": "Scheduled"},
        {"clusterDecision": {"clusterName": "x", "selected": True, "reason": "again"}},
    ],
    ids=lambda change: next(iter(change)),
)
async def test_8_6a_any_change_of_a_binding_in_flight_preempts_it(
    world: World, change: Json
) -> None:
    run = await in_flight(world)
    await world.change_binding("a", **change)
    await is_preempted(run)


async def test_8_6a_a_change_right_after_the_binding_is_written_preempts_too(
    world: World,
) -> None:
    await prepared(world, "ab")
    run = await Run.create(world)
    name = world.binding_name("a")
    async with aclosing(states(world.hub, world.scope.binding, name, world.namespace)) as each:
        async for seen in each:
            if seen and world.is_handed_out(seen):
                await world.change_binding("a", resourceSnapshotName="other")
                break
    await is_preempted(run)


@pytest.mark.parametrize("status", ["False", "Unknown"])
async def test_8_6a_a_withdrawn_announcement_preempts_too(world: World, status: str) -> None:
    run = await in_flight(world)
    await world.report("a", "RolloutStarted", status)
    await is_preempted(run)


async def test_8_6a_a_finished_cluster_may_be_changed_by_others(world: World) -> None:
    await prepared(world, "ab")
    run = await Run.create(world)
    await world.update("a")
    await world.handed_out("b")
    await world.change_binding("a", resourceSnapshotName="other")
    await world.report("b")
    await run.succeeds()


async def test_8_6a_a_cluster_that_is_not_due_yet_is_simply_overwritten(world: World) -> None:
    await prepared(world, "ab")
    run = await Run.create(world)
    await world.handed_out("a")
    await world.change_binding("b", resourceSnapshotName="other", state="Bound")
    await world.update("a", "b")
    await run.succeeds()


async def test_5_errors_of_several_clusters_are_reported_together(world: World) -> None:
    await prepared(world, "abc", maxConcurrency=2)
    run = await Run.create(world)
    await started(run, "a", "b")
    other = {"resourceSnapshotName": "other"}
    await asyncio.gather(*(world.change_binding(short, **other) for short in "ab"))
    first, second = (f"{E_ABORT}: {run.preemption(short)}" for short in "ab")
    await run.fails(f"[{first}, {second}]")
    await world.untouched("c")


async def _next(each: AsyncIterator[Json | None]) -> Json:
    seen = await anext(each)
    assert seen is not None
    return seen
