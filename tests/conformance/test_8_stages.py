"""Sections 8.1 to 8.3, 8.7 and 8.9: stages, one after the other."""

import asyncio
from datetime import datetime

import pytest

from hub import Json
from tests.conformance.objects import (
    APPROVAL,
    stage,
    stage_of,
    timed_wait,
    types_of,
)
from tests.conformance.pace import QUIET
from tests.conformance.runs import Run
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.conditions import condition_of

# -- 8.1 empty stages ----------------------------------------------------------------------


async def test_8_1_an_empty_stage_is_skipped_without_its_tasks(world: World) -> None:
    await world.place({"a": {"stage": "last"}})
    tasks: Json = {"beforeStageTasks": [APPROVAL], "afterStageTasks": [timed_wait("1h"), APPROVAL]}
    await world.strategy(stage("none", **tasks), stage("nobody"), stage("last"))
    run = await Run.create(world)
    await world.update("a")
    seen = await run.succeeds()
    for index in (0, 1):
        skipped = stage_of(seen, index)
        run.shows(seen, Says.STAGE_SKIPPED, part=skipped)
        run.shows(seen, Says.STAGE_SKIPPED_WELL, part=skipped)
        assert skipped["startTime"]
        assert skipped["endTime"]
    for side in ("before", "after"):
        assert all("conditions" not in task for task in stage_of(seen, 0)[f"{side}StageTaskStatus"])
        assert await world.find(world.scope.approval, run.request(side, "none")) is None


# -- 8.2 tasks before a stage --------------------------------------------------------------


async def test_8_2_a_stage_does_not_start_before_its_approval(world: World) -> None:
    await world.place("a")
    await world.strategy(stage(beforeStageTasks=[APPROVAL]))
    run = await Run.create(world)
    await world.asked(run.request("before"))
    seen = await run.comes_to(Says.RUN_WAITING_BEFORE, stage="one")
    run.shows(seen, Says.STAGE_WAITING_BEFORE, part=stage_of(seen, 0))
    assert "startTime" not in stage_of(seen, 0)
    await run.stays(Says.RUN_WAITING_BEFORE, seconds=QUIET)
    await world.untouched("a")


async def test_8_2_a_run_whose_condition_says_that_it_waits_can_be_approved(world: World) -> None:
    """The approval request exists by the time the condition says that the run is waiting."""
    await world.place("a")
    await world.strategy(stage(beforeStageTasks=[APPROVAL]))
    run = await Run.create(world)
    await run.comes_to(Says.RUN_WAITING_BEFORE, stage="one")
    assert await world.find(world.scope.approval, run.request("before")) is not None


async def test_8_2_a_stage_starts_after_its_approval(world: World) -> None:
    await world.place("a")
    await world.strategy(stage(beforeStageTasks=[APPROVAL]))
    run = await Run.create(world)
    await run.approve("before")
    await world.handed_out("a")
    seen = await run.stage_comes_to(Says.STAGE_STARTED)
    run.shows(seen, Says.RUN_PROGRESSING)
    assert stage_of(seen, 0)["startTime"]


async def test_8_2_each_stage_requests_approval_only_when_it_is_due(world: World) -> None:
    await world.place({"a": {"stage": "one"}, "b": {"stage": "two"}})
    await world.strategy(stage("one"), stage("two", beforeStageTasks=[APPROVAL]))
    run = await Run.create(world)
    await world.handed_out("a")
    assert await world.find(world.scope.approval, run.request("before", "two")) is None
    await world.report("a")
    seen = await run.comes_to(Says.RUN_WAITING_BEFORE, stage="two")
    run.shows(seen, Says.STAGE_SUCCEEDED, part=stage_of(seen, 0))


# -- 8.3 concurrency -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("concurrency", "clusters", "at_once"),
    [
        (None, 2, 1),
        (1, 2, 1),
        (2, 3, 2),
        (9, 2, 2),
        ("50%", 4, 2),
        ("50%", 3, 1),
        ("67%", 3, 2),
        ("1%", 3, 1),
        ("100%", 3, 3),
    ],
)
async def test_8_3_the_concurrency_limits_how_many_clusters_are_updated_at_once(
    world: World, concurrency: int | str | None, clusters: int, at_once: int
) -> None:
    shorts = "abcd"[:clusters]
    await world.place(shorts)
    limit = {} if concurrency is None else {"maxConcurrency": concurrency}
    await world.strategy(stage(**limit))
    await Run.create(world)
    for short in shorts[:at_once]:
        await world.handed_out(short)
    await asyncio.sleep(QUIET)
    await world.untouched(*shorts[at_once:])


async def test_8_3_the_next_cluster_starts_when_one_is_done(world: World) -> None:
    await world.place("abcd")
    await world.strategy(stage(maxConcurrency=2))
    await Run.create(world)
    await world.handed_out("a")
    await world.update("b")
    await world.handed_out("c")
    await world.untouched("d")
    await world.report("a")
    await world.handed_out("d")


# -- 8.7 tasks after a stage ---------------------------------------------------------------


async def test_8_7_a_stage_waits_for_its_tasks_when_its_clusters_are_done(world: World) -> None:
    await world.place({"a": {"stage": "one"}, "b": {"stage": "two"}})
    await world.strategy(stage("one", afterStageTasks=[APPROVAL]), stage("two"))
    run = await Run.create(world)
    await world.update("a")
    seen = await run.comes_to(Says.RUN_WAITING_AFTER, stage="one")
    run.shows(seen, Says.STAGE_WAITING_AFTER, part=stage_of(seen, 0))
    assert "endTime" not in stage_of(seen, 0)
    await run.stays(Says.RUN_WAITING_AFTER, seconds=QUIET)
    await world.untouched("b")


async def test_8_7_a_stage_without_tasks_ends_with_its_clusters(world: World) -> None:
    await world.place({"a": {"stage": "one"}, "b": {"stage": "two"}})
    await world.strategy(stage("one"), stage("two"))
    run = await Run.create(world)
    await world.update("a")
    await world.handed_out("b")
    seen = await run.stage_comes_to(Says.STAGE_STARTED, 1)
    finished = stage_of(seen, 0)
    run.shows(seen, Says.STAGE_COMPLETED, part=finished)
    run.shows(seen, Says.STAGE_SUCCEEDED, part=finished)
    run.shows(seen, Says.RUN_PROGRESSING)
    assert finished["startTime"] <= finished["endTime"]


async def test_8_7_a_timed_wait_counts_from_the_last_cluster(world: World) -> None:
    await world.place("ab")
    await world.strategy(stage(afterStageTasks=[timed_wait("2s")]))
    run = await Run.create(world)
    await world.update("a", "b")
    seen = await run.succeeds()
    task = stage_of(seen, 0)["afterStageTaskStatus"][0]
    run.shows(seen, Says.TASK_WAITED, part=task)
    # The transition time is still that of the start of the wait: only the reason changed (2.2).
    begun = condition_of(stage_of(seen, 0), "Progressing")["lastTransitionTime"]
    over = condition_of(task, "WaitTimeElapsed")["lastTransitionTime"]
    # Both are truncated to whole seconds.
    assert _seconds(begun, over) >= 1


async def test_8_7_all_tasks_run_in_parallel_and_all_have_to_complete(world: World) -> None:
    await world.place("a")
    await world.strategy(stage(afterStageTasks=[timed_wait("1s"), APPROVAL]))
    run = await Run.create(world)
    await world.update("a")
    await world.asked(run.request("after"))
    waited = await run.until(
        lambda seen: seen and "conditions" in stage_of(seen, 0)["afterStageTaskStatus"][0]
    )
    run.shows(waited, Says.RUN_WAITING_AFTER, stage="one")
    await run.approve("after")
    seen = await run.succeeds()
    wait, approval = stage_of(seen, 0)["afterStageTaskStatus"]
    run.shows(seen, Says.TASK_WAITED, part=wait)
    run.shows(seen, Says.TASK_APPROVED, part=approval)


async def test_8_7_an_early_approval_does_not_shorten_the_wait(world: World) -> None:
    await world.place("a")
    await world.strategy(stage(afterStageTasks=[timed_wait("1h"), APPROVAL]))
    run = await Run.create(world)
    await world.update("a")
    await run.approve("after")
    approved = await run.until(
        lambda seen: (
            seen
            and condition_of(
                stage_of(seen, 0)["afterStageTaskStatus"][1], "ApprovalRequestApproved"
            )
        )
    )
    run.shows(approved, Says.RUN_WAITING_AFTER, stage="one")
    await run.stays(Says.RUN_WAITING_AFTER, seconds=QUIET, stage="one")


# -- 8.9 the end ---------------------------------------------------------------------------


async def test_8_9_a_successful_run_shows_exactly_these_conditions(world: World) -> None:
    await world.place({"a": {"stage": "one"}, "b": {"stage": "two"}})
    await world.strategy(
        stage("one", beforeStageTasks=[APPROVAL], afterStageTasks=[timed_wait("1s"), APPROVAL]),
        stage("two"),
    )
    run = await Run.create(world)
    await run.approve("before")
    await world.update("a")
    await run.approve("after")
    await world.update("b")
    seen = await run.succeeds()
    run.shows(seen, Says.RUN_INITIALIZED)
    assert types_of(seen) == ["Initialized", "Progressing", "Succeeded"]
    for index in (0, 1, -1):
        entry = stage_of(seen, index)
        assert types_of(entry) == ["Progressing", "Succeeded"]
        run.shows(seen, Says.STAGE_COMPLETED, part=entry)
        run.shows(seen, Says.STAGE_SUCCEEDED, part=entry)
        assert entry["startTime"] <= entry["endTime"]
        for cluster in entry["clusters"]:
            assert types_of(cluster) == ["Started", "Succeeded"]
            run.shows(seen, Says.CLUSTER_STARTED, part=cluster)
            run.shows(seen, Says.CLUSTER_SUCCEEDED, part=cluster)
    first = stage_of(seen, 0)
    wait, approval = first["afterStageTaskStatus"]
    assert types_of(wait) == ["WaitTimeElapsed"]
    for task in (first["beforeStageTaskStatus"][0], approval):
        assert types_of(task) == ["ApprovalRequestCreated", "ApprovalRequestApproved"]
        run.shows(seen, Says.TASK_CREATED, part=task)


def _seconds(earlier: str, later: str) -> float:
    moments = [datetime.fromisoformat(each) for each in (earlier, later)]
    return (moments[1] - moments[0]).total_seconds()
