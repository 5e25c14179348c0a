"""Sections 11 and 12: failed runs, deleted runs, and runs of the same name."""

import asyncio

import pytest

from tests.conformance.objects import (
    APPROVAL,
    TARGET_RUN,
    stage,
    stage_of,
    timed_wait,
    types_of,
)
from tests.conformance.pace import QUIET
from tests.conformance.runs import Run
from tests.conformance.situations import in_flight, leaving
from tests.conformance.texts import E_USER, E_VALID, unplaced
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.conditions import condition_of

# -- 11 failure ----------------------------------------------------------------------------


async def test_11_a_failed_initialization_has_one_condition(world: World) -> None:
    run = await Run.create(world)
    seen = await run.is_refused(f"{E_VALID}: {E_USER}: parent placement not found")
    assert types_of(seen) == ["Initialized"]


async def test_11_a_run_that_fails_in_a_stage_fails_the_stage_with_the_same_message(
    world: World,
) -> None:
    await world.place({"a": {"stage": "one"}, "b": {"stage": "two"}, "c": {"stage": "three"}})
    await world.strategy(stage("one"), stage("two"), stage("three"))
    run = await Run.create(world)
    await world.update("a")
    before = await world.handed_out("b")
    await run.cluster_comes_to(Says.CLUSTER_STARTED, "b", 1)
    await world.change_binding("b", resourceSnapshotName="other")
    seen = await run.is_preempted("b", stage="two", index=1)
    run.shows(seen, Says.STAGE_SUCCEEDED, part=stage_of(seen, 0))
    assert "conditions" not in stage_of(seen, 2)
    assert "conditions" not in stage_of(seen, -1)

    await asyncio.sleep(QUIET)
    after = await world.read_binding("b")
    assert after["spec"] == before["spec"] | {"resourceSnapshotName": "other"}, "not rolled back"
    await world.untouched("c")


async def test_11_a_failed_run_leaves_the_bindings_as_they_are(world: World) -> None:
    run = await in_flight(world)
    await world.label("b", {"stage": "other"})
    await run.fails(unplaced(world.cluster("b")))
    before = await world.read_binding("a")
    assert before["spec"]["resourceSnapshotName"] == world.hand.snapshot_name(0)
    await asyncio.sleep(QUIET)
    after = await world.read_binding("a")
    assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]


async def test_11_a_new_run_succeeds_after_a_failed_one(world: World) -> None:
    await world.place("ab")
    await world.strategy(stage())
    failed = await Run.create(world, suffix="failed")
    await world.handed_out("a")
    await failed.cluster_comes_to(Says.CLUSTER_STARTED, "a")
    await world.change_binding("a", resourceSnapshotName="other")
    await failed.is_preempted()
    again = await Run.create(world, suffix="again")
    await world.update("a", "b")
    await again.succeeds()


# -- 12 deletion ---------------------------------------------------------------------------


async def nothing_done(world: World) -> Run:
    run = await Run.create(world, state="Initialize")
    await run.comes_to(Says.RUN_INITIALIZED)
    return run


async def before_a_stage(world: World) -> Run:
    run = await Run.create(world)
    await world.asked(run.request("before"))
    return run


async def cluster_in_flight(world: World) -> Run:
    run = await before_a_stage(world)
    await run.approve("before")
    await world.handed_out("a")
    return run


async def after_a_stage(world: World) -> Run:
    run = await cluster_in_flight(world)
    await world.report("a")
    await world.asked(run.request("after"))
    return run


async def stopped(world: World) -> Run:
    run = await before_a_stage(world)
    await run.set_state("Stop")
    await run.comes_to(Says.RUN_STOPPED)
    return run


async def deleting(world: World) -> Run:
    run = await after_a_stage(world)
    await run.approve("after")
    await run.cluster_comes_to(Says.CLUSTER_STARTED, "x", -1)
    return run


async def succeeded(world: World) -> Run:
    run = await deleting(world)
    await world.release(world.scope.binding, world.binding_name("x"))
    await run.succeeds()
    return run


async def failed(world: World) -> Run:
    run = await cluster_in_flight(world)
    await run.cluster_comes_to(Says.CLUSTER_STARTED, "a")
    await world.change_binding("a", resourceSnapshotName="other")
    await run.is_preempted()
    return run


MOMENTS = [
    nothing_done,
    before_a_stage,
    cluster_in_flight,
    after_a_stage,
    stopped,
    deleting,
    succeeded,
    failed,
]


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment.__name__)
async def test_12_a_run_may_be_deleted_at_any_moment(world: World, moment: object) -> None:
    """Its approval requests are deleted with it; what it has written to bindings stays."""
    await world.place("a")
    await leaving(world, "x")
    tasks = {"beforeStageTasks": [APPROVAL], "afterStageTasks": [APPROVAL, timed_wait("1s")]}
    await world.strategy(stage(**tasks))
    assert callable(moment)
    run: Run = await moment(world)
    before = await world.read_binding("a")
    await run.delete()
    await world.gone(world.scope.run, run.name)
    for side in ("before", "after"):
        await world.gone(world.scope.approval, run.request(side))
    await asyncio.sleep(QUIET)
    assert await requests(world, run) == []
    after = await world.read_binding("a")
    assert after["spec"] == before["spec"]
    assert after["status"] == before["status"] if "status" in before else "status" not in after


async def test_12_approval_requests_of_other_runs_stay(world: World) -> None:
    await world.place("a")
    await world.strategy(stage(beforeStageTasks=[APPROVAL]))
    kept = await Run.create(world, suffix="kept")
    gone = await Run.create(world, suffix="gone")
    for run in (kept, gone):
        await world.asked(run.request("before"))
    await gone.delete()
    await world.gone(world.scope.approval, gone.request("before"))
    await world.asked(kept.request("before"))
    await kept.comes_to(Says.RUN_WAITING_BEFORE, stage="one")


async def test_12_a_run_of_the_same_name_is_a_new_run(world: World) -> None:
    await world.place("ab")
    await world.strategy(stage(beforeStageTasks=[APPROVAL]))
    first = await Run.create(world)
    await first.approve("before")
    await world.update("a")
    await world.handed_out("b")
    await first.delete()
    await world.gone(world.scope.run, first.name)
    again = await Run.create(world)
    seen = await again.comes_to(Says.RUN_WAITING_BEFORE, stage="one")
    assert "conditions" not in again.cluster(seen, "a")
    request = await world.asked(again.request("before"))
    assert not condition_of(request, "Approved")
    await again.approve("before")
    await world.update("a", "b")
    await again.succeeds()


async def test_12_a_run_recreated_at_once_does_not_inherit_an_approval(world: World) -> None:
    await world.place("a")
    await world.strategy(stage(beforeStageTasks=[APPROVAL]))
    first = await Run.create(world)
    await first.approve("before")
    await world.handed_out("a")
    await first.delete()
    await world.gone(world.scope.run, first.name)
    again = await Run.create(world, index="0", state="Initialize")
    await again.comes_to(Says.RUN_INITIALIZED)
    assert await world.find(world.scope.approval, again.request("before")) is None


async def requests(world: World, run: Run) -> list[str]:
    """The names of the remaining approval requests of a run."""
    listing = await world.hub.list(
        world.scope.approval, namespace=world.namespace, labels=f"{TARGET_RUN}={run.name}"
    )
    return [each["metadata"]["name"] for each in listing.items]
