"""A run with a long history continues in a new execution, without visible effects."""

from collections import Counter
from typing import Final

import pytest

from api.runs import RunState
from api.strategies import StageTask, StageTaskType
from planning.runs.gates import GateSide
from planning.runs.phases import Phase
from tests.planning.run_samples import APPROVAL
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.histories import Limits
from tests.workflows.simulated.simulated_runs import SimulatedRun, many, stage
from workflows.messages import Answer, ApprovalLost, ChangeState
from workflows.update_run import LEAST_EVENTS

SHORT: Final = Limits(suggest_events=20)
"""Less than a stage with one cluster needs."""
STAGES: Final = (stage("one", "a"), stage("two", "b"), stage("three", "c"))


def executions(run: SimulatedRun) -> int:
    return len(run.temporal.executions)


def test_a_run_continues_in_a_new_execution_between_stages(begin: Begin) -> None:
    run = begin(*STAGES, takes=10, limits=SHORT)
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert executions(run) == 1 + len(STAGES)
    assert run.activities.handed_out == run.updated == ["a", "b", "c"]
    assert run.hub.phases == [Phase.PLANNED, Phase.RUNNING, Phase.SUCCEEDED]


def test_a_short_run_stays_in_one_execution(begin: Begin) -> None:
    run = begin(*STAGES, takes=10)
    run.outcome()
    assert executions(run) == 1


def test_each_event_is_recorded_once_over_all_executions(begin: Begin) -> None:
    run = begin(*STAGES, takes=10, limits=SHORT)
    run.outcome()
    assert run.told == ["Initialized", *["StageStarted"] * 3, "Succeeded"]


def test_the_run_is_planned_only_once(begin: Begin) -> None:
    run = begin(*STAGES, takes=10, limits=SHORT)
    run.outcome()
    asked = sum((each.history.activities for each in run.temporal.executions), Counter())
    assert asked["find_snapshot"] == 1
    assert [each.paths for each in run.activities.writes].count(["/status"]) == 1


def test_clusters_to_be_removed_are_carried_over(begin: Begin) -> None:
    run = begin(*STAGES, leaving=("x", "y"), takes=10, limits=SHORT)
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.removed == ["x", "y"]


def test_the_desired_state_and_its_generation_are_carried_over(begin: Begin) -> None:
    run = begin(*STAGES, takes=30, limits=SHORT)
    run.until_handed_out("a")
    run.stop()
    run.until_phase(Phase.STOPPED)
    run.resume()
    run.until_handed_out("b")
    assert executions(run) == 2
    # A message about a generation that was carried over is outdated.
    run.signal("pause", ChangeState(generation=3))
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert {each.observed_generation for each in run.status.conditions} == {3}


def test_a_change_that_one_execution_did_not_check_is_checked_by_the_next(
    begin: Begin,
) -> None:
    run = begin(*STAGES, limits=SHORT)
    run.until_handed_out("a")
    run.report("a")
    run.until(lambda: executions(run) == 2, "the run continues as new")
    run.hub.placement = None
    assert run.outcome().reason == "UpdateRunFailed"
    assert run.activities.handed_out == ["a"]


def test_pending_updates_are_answered_before_the_run_continues(begin: Begin) -> None:
    run = begin(*STAGES, limits=SHORT)
    run.until_handed_out("a")
    run.activities.takes["set_state"] = 5
    stop = run.temporal.send_update("pause", ChangeState())
    run.wait(0.01)
    resume = run.temporal.send_update("resume", ChangeState())
    run.wait(0.01)
    run.report("a")
    run.until_handed_out("b")
    assert executions(run) == 2
    assert stop.result(Answer).text
    assert resume.result(Answer).text == "run v2 is running"
    assert run.hub.spec.state is RunState.RUN


def test_a_pause_is_on_the_hub_before_the_run_continues(begin: Begin) -> None:
    run = begin(*STAGES, limits=SHORT)
    run.until_handed_out("a")
    run.activities.takes |= {"record_events": 4, "set_state": 20}
    run.report("a")
    run.wait(1)
    run.signal("pause", ChangeState(by="alice"))
    run.until_phase(Phase.STOPPED)
    run.wait(60)
    assert executions(run) == 2
    assert run.hub.spec.state is RunState.STOP
    assert run.told.count("Stopped") == 1
    assert run.activities.handed_out == ["a"]


def test_a_gate_of_the_next_stage_opens_in_the_next_execution(begin: Begin) -> None:
    run = begin(
        stage("one", "a"),
        stage("two", "b", before_stage_tasks=[APPROVAL]),
        takes=10,
        limits=SHORT,
    )
    run.until_asked("v2-before-two")
    assert executions(run) == 2
    run.wait(60)
    assert run.activities.handed_out == ["a"]
    assert run.update("approve").result(Answer).text == "stage two (before) is approved"
    assert run.outcome().reason == "UpdateRunSucceeded"


@pytest.mark.parametrize("newer", [True, False])
def test_a_run_leaves_its_build_after_a_stage_when_there_is_a_newer_one(
    begin: Begin,
    newer: bool,
) -> None:
    run = begin(*STAGES)
    run.until_handed_out("a")
    run.temporal.execution.newer_build = newer
    run.report("a")
    run.until_handed_out("b")
    assert executions(run) == (2 if newer else 1)


def test_a_status_edited_between_two_executions_is_whole_again(begin: Begin) -> None:
    run = begin(*STAGES, takes=10, limits=SHORT)
    run.until(lambda: executions(run) == 2, "the run continues as new")
    run.hub.wipe_status()
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.updated == ["a", "b", "c"]


# -- inside a stage --------------------------------------------------------------------------


LONG: Final = Limits(suggest_events=LEAST_EVENTS)


OF_NO_GATE: Final = ApprovalLost(stage="none", side=GateSide.BEFORE)
"""A message that changes nothing, but is recorded in the history."""


def lengthen(run: SimulatedRun) -> None:
    """Send the run so many signals that it continues in a new execution."""
    before = executions(run)
    for _ in range(LEAST_EVENTS):
        run.signal("approval_lost", OF_NO_GATE)
    run.until(lambda: executions(run) == before + 1, "the run continues as new")


def test_clusters_in_flight_are_carried_over_and_handed_out_once(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", "c", max_concurrency=2), limits=LONG)
    run.until_handed_out("a", "b")
    lengthen(run)
    written = run.activities.written
    run.until(lambda: bool(written["b"].handed_out), "the next execution asks for both again")
    assert run.activities.handed_out == ["a", "b"]
    run.report("b")
    run.until_handed_out("c")
    run.report("a", "c")
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.handed_out == run.updated == ["a", "b", "c"]
    assert run.activities.most_in_flight == 2
    assert run.told == ["Initialized", "StageStarted", "Succeeded"]


def test_a_cluster_that_ends_while_the_run_continues_is_done(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), limits=LONG)
    run.until_handed_out("a")
    run.activities.takes["record_events"] = 5
    run.signal("pause", ChangeState(by="alice"))
    run.wait(0.1)
    before = executions(run)
    for _ in range(LEAST_EVENTS):
        run.signal("approval_lost", OF_NO_GATE)
    run.wait(1)
    assert executions(run) == before, "an event is still being written"
    run.report("a")
    run.until(lambda: executions(run) == before + 1, "the run continues as new")
    run.until_phase(Phase.STOPPED)
    assert run.updated == ["a"]
    run.resume()
    run.until_handed_out("b")
    assert run.activities.handed_out == ["a", "b"]


def test_a_cluster_taken_while_the_run_continues_fails_it(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), limits=LONG)
    run.until_handed_out("a")
    lengthen(run)
    run.take("a")
    outcome = run.outcome()
    assert "see if there is a concurrent updateRun" in outcome.message
    assert run.activities.handed_out == ["a"]


def test_a_stuck_cluster_stays_stuck_in_the_next_execution(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), limits=LONG)
    run.until_phase(Phase.STUCK)
    lengthen(run)
    run.wait(10)
    assert run.hub.phases.count(Phase.STUCK) == 1
    assert run.phase is Phase.STUCK
    run.report("a")
    run.until_phase(Phase.RUNNING)


def test_a_run_that_is_stopping_stops_in_the_next_execution(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), limits=LONG)
    run.until_handed_out("a")
    run.stop()
    run.until_phase(Phase.STOPPING)
    lengthen(run)
    run.report("a")
    run.until_phase(Phase.STOPPED)
    run.wait(60)
    assert run.activities.handed_out == ["a"]
    assert run.told.count("Stopped") == 1


@pytest.mark.parametrize("stopped", [False, True])
def test_a_gate_stays_open_across_executions(begin: Begin, stopped: bool) -> None:
    run = begin(stage("one", "a", before_stage_tasks=[APPROVAL]), limits=LONG)
    run.until_asked("v2-before-one")
    if stopped:
        run.stop()
        run.until_phase(Phase.STOPPED)
    lengthen(run)
    assert run.update("approve").result(Answer).text.startswith("stage one (before) is approved")
    run.wait(10)
    assert run.activities.handed_out == ([] if stopped else ["a"])
    run.resume()
    run.until_handed_out("a")
    assert run.told.count("Waiting") == 1 + stopped


def test_a_timed_wait_keeps_its_length_across_executions(begin: Begin) -> None:
    wait = StageTask(type=StageTaskType.TIMED_WAIT, wait_time="1h")
    run = begin(stage("one", "a", after_stage_tasks=[wait]), stage("two", "b"), limits=LONG)
    run.until_handed_out("a")
    run.report("a")
    run.until_phase(Phase.WAITING)
    begun_at = run.timeline.now
    run.wait(1800)
    lengthen(run)
    run.until_handed_out("b")
    assert 3599 < (run.timeline.now - begun_at).total_seconds() < 3605


def test_removals_are_carried_over(begin: Begin) -> None:
    run = begin(stage("one", "a"), leaving=("x", "y"), limits=LONG)
    run.until_handed_out("a")
    run.report("a")
    run.until(lambda: run.activities.removed == ["x", "y"], "removals begin")
    lengthen(run)
    for name in ("x", "y"):
        del run.hub.bindings[name]
        run.activities.notice(name)
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.removed == ["x", "y"]


def test_unchanged_facts_are_not_returned_again(begin: Begin) -> None:
    """Each check of a thousand clusters would add a third of a megabyte to the history."""
    clusters = many(300)
    run = begin(stage("one", *clusters, before_stage_tasks=[APPROVAL]), limits=LONG)
    run.until_asked("v2-before-one")
    sizes = []
    for _ in range(3):
        before = run.temporal.execution.history.size
        run.changed()
        run.wait(10)
        sizes.append(run.temporal.execution.history.size - before)
    assert sizes[0] > 10 * sizes[1]
    assert sizes[1] == sizes[2]
    lengthen(run)
    run.wait(10)
    assert run.temporal.execution.history.size < run.temporal.executions[0].history.size / 2
    run.hub.placement = None
    run.changed()
    assert run.outcome().reason == "UpdateRunFailed"
