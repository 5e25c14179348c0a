"""Section 6: what a run does in each state, and that its result is final."""

import pytest

from hub import Invalid
from tests.conformance.objects import (
    APPROVAL,
    RUN_FINALIZER,
    cluster_names,
    stage,
    stage_of,
    types_of,
)
from tests.conformance.pace import QUIET
from tests.conformance.runs import Run
from tests.conformance.texts import E_USER, E_VALID
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.conditions import condition_of


async def test_6_a_run_created_with_initialize_is_only_planned(world: World) -> None:
    await world.place("ab")
    await world.strategy(stage())
    run = await Run.create(world, state="Initialize")
    seen = await run.comes_to(Says.RUN_INITIALIZED)
    assert cluster_names(seen) == world.clusters("ab")
    await run.stays(Says.RUN_INITIALIZED, seconds=QUIET)
    assert types_of(await run.read()) == ["Initialized"]
    await world.untouched("a", "b")


async def test_6_a_run_without_a_state_is_only_initialized(world: World) -> None:
    await world.place("a")
    await world.strategy(stage())
    run = await Run.create(world, state=None)
    seen = await run.comes_to(Says.RUN_INITIALIZED)
    assert seen["spec"]["state"] == "Initialize"
    await world.untouched("a")


async def test_6_a_run_created_with_run_is_planned_and_started(world: World) -> None:
    await world.place("a")
    await world.strategy(stage())
    run = await Run.create(world)
    await world.handed_out("a")
    seen = await run.comes_to(Says.RUN_PROGRESSING)
    run.shows(seen, Says.RUN_INITIALIZED)


async def test_6_a_run_created_with_stop_is_planned_and_stopped(world: World) -> None:
    await world.place("a")
    await world.strategy(stage())
    run = await Run.create(world, state="Stop")
    seen = await run.comes_to(Says.RUN_STOPPED)
    run.shows(seen, Says.RUN_INITIALIZED)
    run.shows(seen, Says.STAGE_STOPPED, part=stage_of(seen, 0))
    assert "startTime" not in stage_of(seen, 0)
    await world.untouched("a")


async def test_6_an_initialized_run_starts_when_set_to_run(world: World) -> None:
    await world.place("a")
    await world.strategy(stage())
    run = await Run.create(world, state="Initialize")
    await run.comes_to(Says.RUN_INITIALIZED)
    await run.set_state("Run")
    await world.update("a")
    await run.succeeds()


async def test_6_a_new_state_keeps_every_earlier_result_valid(world: World) -> None:
    """Step 2: every condition observes the new generation, and keeps its time."""
    await world.place({"a": {"stage": "one"}, "b": {"stage": "two"}})
    await world.strategy(
        stage("one", beforeStageTasks=[APPROVAL], afterStageTasks=[APPROVAL]),
        stage("two", beforeStageTasks=[APPROVAL]),
    )
    run = await Run.create(world)
    await run.approve("before")
    await world.update("a")
    await run.approve("after")
    before = await run.comes_to(Says.RUN_WAITING_BEFORE, stage="two")
    await world.asked(run.request("before", "two"))
    await run.set_state("Stop")
    after = await run.comes_to(Says.RUN_STOPPED)
    finished = stage_of(after, 0)
    parts = [
        after,
        finished,
        *finished["clusters"],
        *finished["beforeStageTaskStatus"],
        *finished["afterStageTaskStatus"],
    ]
    generations = {
        each["observedGeneration"]
        for part in parts
        for each in part.get("status", part)["conditions"]
    }
    assert generations == {2}
    for kind in ("Progressing", "Succeeded"):
        times = [condition_of(stage_of(each, 0), kind) for each in (before, after)]
        assert times[0]["lastTransitionTime"] == times[1]["lastTransitionTime"]


async def test_6_an_active_run_has_the_finalizer(world: World) -> None:
    await world.place("a")
    await world.strategy(stage())
    run = await Run.create(world, state="Initialize")
    seen = await run.comes_to(Says.RUN_INITIALIZED)
    assert seen["metadata"]["finalizers"] == [RUN_FINALIZER]


async def test_6_a_failed_initialization_is_final_even_if_the_cause_is_fixed(
    world: World,
) -> None:
    await world.place("a")
    run = await Run.create(world, state="Initialize")
    text = f"referenced updateStrategy not found: `{world.key(world.name)}`"
    await run.is_refused(f"{E_VALID}: {E_USER}: {text}")
    await world.strategy(stage())
    await run.set_state("Run")
    await run.until(lambda seen: seen and condition_of(seen, "Initialized"))
    await _is_left_alone(run, Says.RUN_NOT_INITIALIZED)
    await world.untouched("a")


async def test_6_a_succeeded_run_does_nothing_more(world: World) -> None:
    await world.place("a")
    await world.strategy(stage())
    run = await Run.create(world)
    await world.update("a")
    await run.succeeds()
    await run.set_state("Stop")
    await _is_left_alone(run, Says.RUN_SUCCEEDED)


async def test_6_a_failed_run_does_nothing_more(world: World) -> None:
    await world.place("ab", versions=2)
    await world.strategy(stage())
    run = await Run.create(world)
    await world.handed_out("a")
    await world.change_binding("a", resourceSnapshotName=world.hand.snapshot_name(1))
    await run.is_preempted()
    await run.set_state("Stop")
    await _is_left_alone(run, Says.RUN_FAILED)
    await run.set_state("Run")
    await _is_left_alone(run, Says.RUN_FAILED)
    await world.untouched("b")


async def _is_left_alone(run: Run, says: Says) -> None:
    """Check that the status is not rewritten: its conditions still observe the old generation."""
    await run.stays(says, seconds=QUIET)
    seen = await run.read()
    assert (
        condition_of(seen, says.value.type)["observedGeneration"] < (seen["metadata"]["generation"])
    )


@pytest.mark.parametrize(
    ("old", "new"), [("Initialize", "Stop"), ("Run", "Initialize"), ("Stop", "Initialize")]
)
async def test_2_1_an_impossible_change_of_state_is_refused(
    world: World, old: str, new: str
) -> None:
    run = await Run.create(world, state=old)
    text = f"invalid state transition: cannot transition from {old} to {new}"
    with pytest.raises(Invalid, match=text):
        await run.set_state(new)


async def test_2_1_an_unknown_state_is_refused(world: World) -> None:
    with pytest.raises(Invalid, match='supported values: "Initialize", "Run", "Stop"'):
        await Run.create(world, state="Pause")


@pytest.mark.parametrize(
    "field", ["placementName", "stagedRolloutStrategyName", "resourceSnapshotIndex"]
)
async def test_2_1_the_content_of_a_run_is_immutable(world: World, field: str) -> None:
    run = await Run.create(world)
    with pytest.raises(Invalid, match=f"{field} is immutable"):
        await world.patch(world.scope.run, run.name, {"spec": {field: "other"}})


async def test_decision_18_an_omitted_index_cannot_be_added_later(world: World) -> None:
    run = await Run.create(world, index=None)
    patch = {"spec": {"resourceSnapshotIndex": "1"}}
    with pytest.raises(Invalid, match="resourceSnapshotIndex is immutable"):
        await world.patch(world.scope.run, run.name, patch)
