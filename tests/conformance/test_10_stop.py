"""Section 10: stop and resume, at every point of a run."""

from typing import Any

import pytest

from tests.conformance.objects import (
    APPROVAL,
    stage,
    stage_of,
    timed_wait,
    types_of,
)
from tests.conformance.pace import QUIET
from tests.conformance.runs import Run
from tests.conformance.situations import asks, in_flight, leaving, let_go, removing
from tests.conformance.texts import E_ABORT, E_UNEXP, E_USER, E_VALID
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.conditions import condition_of

# -- 10.1 in a stage -----------------------------------------------------------------------


async def test_10_1_a_run_created_stopped_succeeds_when_resumed(world: World) -> None:
    await world.place("ab")
    await world.strategy(stage())
    run = await Run.create(world, state="Stop")
    seen = await run.comes_to(Says.RUN_STOPPED)
    run.shows(seen, Says.STAGE_STOPPED, part=stage_of(seen, 0))
    await run.stays(Says.RUN_STOPPED, seconds=QUIET)
    await world.untouched("a", "b")
    await run.set_state("Run")
    await world.update("a", "b")
    await run.succeeds()


async def test_10_1_a_stop_waits_for_clusters_in_flight_and_starts_no_others(world: World) -> None:
    run = await in_flight(world, "abc", maxConcurrency=2)
    await world.handed_out("b")
    await run.set_state("Stop")
    seen = await run.comes_to(Says.RUN_STOPPING)
    run.shows(seen, Says.STAGE_STOPPING, part=stage_of(seen, 0))
    await world.report("a")
    seen = await run.cluster_comes_to(Says.CLUSTER_SUCCEEDED, "a")
    run.shows(seen, Says.RUN_STOPPING)
    run.shows(seen, Says.STAGE_STOPPING, part=stage_of(seen, 0))
    await world.untouched("c")
    await world.report("b")
    seen = await run.comes_to(Says.RUN_STOPPED)
    run.shows(seen, Says.STAGE_STOPPED, part=stage_of(seen, 0))
    run.shows(seen, Says.CLUSTER_SUCCEEDED, part=run.cluster(seen, "b"))
    await run.stays(Says.RUN_STOPPED, seconds=QUIET)
    await world.untouched("c")
    await run.set_state("Run")
    await world.update("c")
    await run.succeeds()


async def test_10_1_a_stage_whose_clusters_finish_while_stopping_is_stopped_not_completed(
    world: World,
) -> None:
    run = await in_flight(world, "a", afterStageTasks=[APPROVAL])
    await run.set_state("Stop")
    await run.comes_to(Says.RUN_STOPPING)
    await world.report("a")
    seen = await run.comes_to(Says.RUN_STOPPED)
    run.shows(seen, Says.STAGE_STOPPED, part=stage_of(seen, 0))
    assert await world.find(world.scope.approval, run.request("after")) is None
    await run.set_state("Run")
    await run.approve("after")
    await run.succeeds()


async def test_10_1_a_stuck_cluster_keeps_the_stop_from_completing(
    world: World,
) -> None:
    run = await in_flight(world)
    await run.set_state("Stop")
    await run.comes_to(Says.RUN_STOPPING)
    seen = await run.comes_to(Says.RUN_STUCK, clusters=world.cluster("a"), stage="one")
    run.shows(seen, Says.STAGE_STOPPING, part=stage_of(seen, 0))
    await world.report("a")
    await run.comes_to(Says.RUN_STOPPED)
    await world.untouched("b")


async def test_10_1_a_stuck_run_stays_stuck_when_it_is_stopped(world: World) -> None:
    run = await in_flight(world)
    await run.comes_to(Says.RUN_STUCK, clusters=world.cluster("a"), stage="one")
    await run.set_state("Stop")
    seen = await run.stage_comes_to(Says.STAGE_STOPPING)
    await run.comes_to(Says.RUN_STUCK, clusters=world.cluster("a"), stage="one")
    await run.stays(Says.RUN_STUCK, seconds=QUIET)
    assert seen["metadata"]["generation"] == 2
    await world.report("a")
    await run.comes_to(Says.RUN_STOPPED)


async def test_10_1_a_stop_waits_for_others_when_stuck_clusters_finish(world: World) -> None:
    """Stuck, then stopping again: one cluster is late, another has just started."""
    run = await in_flight(world, "abc", maxConcurrency=2)
    await world.handed_out("b")
    await run.comes_to(Says.RUN_STUCK, clusters=", ".join(world.clusters("ab")), stage="one")
    await world.report("b")
    await world.handed_out("c")
    await run.set_state("Stop")
    await run.stage_comes_to(Says.STAGE_STOPPING)
    await run.comes_to(Says.RUN_STUCK, clusters=world.cluster("a"), stage="one")
    await world.report("a")
    await run.cluster_comes_to(Says.CLUSTER_SUCCEEDED, "a")
    await world.report("c")
    await run.comes_to(Says.RUN_STOPPED)


async def test_10_1_a_stop_waits_for_a_failing_cluster_too(world: World) -> None:
    run = await in_flight(world)
    await world.report("a", "Applied", "False", "NotAllWorkHaveBeenApplied")
    await run.set_state("Stop")
    await run.comes_to(Says.RUN_STOPPING)
    await run.stays(Says.RUN_STOPPING, seconds=QUIET)
    await world.report("a")
    await run.comes_to(Says.RUN_STOPPED)


async def test_10_1_a_cluster_taken_over_while_stopping_is_preempted(world: World) -> None:
    """As while running: the run must not wait for a cluster that others have taken over."""
    run = await in_flight(world)
    await run.set_state("Stop")
    await run.comes_to(Says.RUN_STOPPING)
    await world.change_binding("a", resourceSnapshotName=world.hand.snapshot_name(1))
    await run.is_preempted()
    await world.untouched("b")


async def test_10_1_a_binding_deleted_while_stopping_fails_the_run(world: World) -> None:
    run = await in_flight(world)
    await run.set_state("Stop")
    await run.comes_to(Says.RUN_STOPPING)
    await world.delete(world.scope.binding, world.binding_name("a"))
    await run.fails(
        f"{E_ABORT}: the number of clusters in index `0` stage has changed, new: 1, existing: 2"
    )


async def test_10_1_a_placement_deleted_while_stopping_fails_the_run(world: World) -> None:
    run = await in_flight(world)
    await run.set_state("Stop")
    await run.comes_to(Says.RUN_STOPPING)
    await world.delete(world.scope.placement, world.name)
    await run.fails(f"{E_VALID}: {E_USER}: parent placement not found")


# -- 10.2 in the deletion stage ------------------------------------------------------------


async def test_10_2_a_stop_waits_for_bindings_that_are_being_deleted(world: World) -> None:
    run = await removing(world, "xy")
    await run.set_state("Stop")
    seen = await run.comes_to(Says.RUN_STOPPING)
    run.shows(seen, Says.STAGE_STOPPING, part=stage_of(seen, -1))
    await let_go(world, "x")
    seen = await run.cluster_comes_to(Says.CLUSTER_SUCCEEDED, "x", -1)
    run.shows(seen, Says.RUN_STOPPING)
    await let_go(world, "y")
    seen = await run.comes_to(Says.RUN_STOPPED)
    run.shows(seen, Says.STAGE_STOPPED, part=stage_of(seen, -1))
    await run.set_state("Run")
    seen = await run.succeeds()
    run.shows(seen, Says.STAGE_SUCCEEDED, part=stage_of(seen, -1))


async def test_10_2_a_binding_that_comes_back_while_stopping_fails_the_run(world: World) -> None:
    run = await removing(world, "xy")
    await run.set_state("Stop")
    await run.comes_to(Says.RUN_STOPPING)
    await let_go(world, "x")
    await run.cluster_comes_to(Says.CLUSTER_SUCCEEDED, "x", -1)
    await leaving(world, "x")
    text = f"the deleted cluster `{world.cluster('x')}` in the deleting stage still has a binding"
    await run.fails(f"{E_ABORT}: {E_UNEXP}: {text}")


async def test_10_2_a_run_resumed_while_bindings_are_deleted_succeeds_once_they_are_gone(
    world: World,
) -> None:
    run = await removing(world, "x")
    await run.set_state("Stop")
    await run.comes_to(Says.RUN_STOPPING)
    await run.set_state("Run")
    await run.comes_to(Says.RUN_PROGRESSING)
    await let_go(world, "x")
    await run.succeeds()


async def test_decision_10_a_run_stopped_before_the_deletion_stage_deletes_nothing(
    world: World,
) -> None:
    """The strategy has no stages, so the run stops in the deletion stage."""
    await world.place("")
    await leaving(world, "x")
    await world.strategy()
    run = await Run.create(world, state="Stop")
    seen = await run.comes_to(Says.RUN_STOPPED)
    run.shows(seen, Says.STAGE_STOPPED, part=stage_of(seen, -1))
    assert "deletionTimestamp" not in (await world.read_binding("x"))["metadata"]
    await run.set_state("Run")
    await let_go(world, "x")
    await run.succeeds()


# -- 10.3 while stopped --------------------------------------------------------------------


@pytest.mark.parametrize("side", ["before", "after"])
async def test_10_3_an_approval_given_while_stopped_counts_after_the_resume(
    world: World, side: str
) -> None:
    run = await asks(world, side)
    request = run.request(side)
    await run.set_state("Stop")
    await run.comes_to(Says.RUN_STOPPED)
    await world.approve(request)
    await run.stays(Says.RUN_STOPPED, seconds=QUIET)
    assert not condition_of(await world.asked(request), "ApprovalAccepted")
    task = stage_of(await run.read(), 0)[f"{side}StageTaskStatus"][0]
    assert "ApprovalRequestApproved" not in types_of(task)
    await run.set_state("Run")
    if side == "before":
        await world.update("a")
    await run.succeeds()
    assert condition_of(await world.asked(request), "ApprovalAccepted")


async def test_10_3_a_wait_that_ends_while_stopped_counts_after_the_resume(
    world: World,
) -> None:
    """Decision 5: the time spent stopped counts."""
    wait = 10
    run = await in_flight(world, "a", afterStageTasks=[timed_wait(f"{wait}s")])
    await world.report("a")
    await run.comes_to(Says.RUN_WAITING_AFTER, stage="one")
    await run.set_state("Stop")
    await run.comes_to(Says.RUN_STOPPED)
    await run.stays(Says.RUN_STOPPED, seconds=wait + QUIET)
    assert "conditions" not in stage_of(await run.read(), 0)["afterStageTaskStatus"][0]
    await run.set_state("Run")
    await run.succeeds()


# -- 10.4 resume ---------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["before", "after"])
async def test_10_4_a_stage_that_waited_for_tasks_waits_again(world: World, side: str) -> None:
    run = await asks(world, side)
    await run.set_state("Stop")
    await run.comes_to(Says.RUN_STOPPED)
    await run.set_state("Run")
    waiting = {
        "before": (Says.RUN_WAITING_BEFORE, Says.STAGE_WAITING_BEFORE),
        "after": (Says.RUN_WAITING_AFTER, Says.STAGE_WAITING_AFTER),
    }[side]
    seen = await run.comes_to(waiting[0], stage="one")
    run.shows(seen, waiting[1], part=stage_of(seen, 0))
    assert condition_of(seen, "Progressing")["observedGeneration"] == 3


async def test_10_4_only_the_run_progresses_again_while_clusters_are_in_flight(
    world: World,
) -> None:
    run = await in_flight(world)
    await run.set_state("Stop")
    await run.comes_to(Says.RUN_STOPPING)
    await run.set_state("Run")
    seen = await run.comes_to(Says.RUN_PROGRESSING)
    run.shows(seen, Says.STAGE_STOPPING, part=stage_of(seen, 0))
    await world.report("a")
    await world.handed_out("b")
    await run.stage_comes_to(Says.STAGE_STARTED)


async def test_10_4_a_stuck_run_is_still_stuck_when_it_is_resumed(world: World) -> None:
    run = await in_flight(world)
    await run.comes_to(Says.RUN_STUCK, clusters=world.cluster("a"), stage="one")
    await run.set_state("Stop")
    await run.stage_comes_to(Says.STAGE_STOPPING)
    await run.set_state("Run")
    stuck: dict[str, Any] = {"clusters": world.cluster("a"), "stage": "one"}
    await run.until(
        lambda seen: seen and condition_of(seen, "Initialized")["observedGeneration"] == 3
    )
    await run.comes_to(Says.RUN_STUCK, **stuck)
    await world.update("a", "b")
    await run.succeeds()


async def test_10_4_a_run_stopped_between_two_clusters_continues_with_the_next(
    world: World,
) -> None:
    run = await in_flight(world, "abc")
    for done, following in (("a", "b"), ("b", "c")):
        await run.set_state("Stop")
        await run.comes_to(Says.RUN_STOPPING)
        await world.report(done)
        await run.comes_to(Says.RUN_STOPPED)
        await world.untouched(following)
        await run.set_state("Run")
        await world.handed_out(following)
    await world.report("c")
    seen = await run.succeeds()
    assert seen["metadata"]["generation"] == 5
