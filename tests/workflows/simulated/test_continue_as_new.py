"""A run whose history grows long goes on in a new execution, as if nothing had happened."""

from collections import Counter
from typing import Final

import pytest

from api.runs import RunState
from planning.runs.phases import Phase
from tests.planning.run_samples import APPROVAL
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.histories import Limits
from tests.workflows.simulated.simulated_runs import SimulatedRun, stage
from workflows.messages import Answer, ChangeState

SHORT: Final = Limits(suggest_events=20)
"""Less than one stage of one cluster takes."""
STAGES: Final = (stage("one", "a"), stage("two", "b"), stage("three", "c"))


def executions(run: SimulatedRun) -> int:
    return len(run.temporal.executions)


def test_a_run_goes_on_in_a_new_execution_between_stages(begin: Begin) -> None:
    run = begin(*STAGES, takes=10, limits=SHORT)
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert executions(run) == 1 + len(STAGES)
    assert run.activities.handed_out == run.updated == ["a", "b", "c"]
    assert run.hub.phases == [Phase.PLANNED, Phase.RUNNING, Phase.SUCCEEDED]


def test_a_run_that_is_short_stays_in_one_execution(begin: Begin) -> None:
    run = begin(*STAGES, takes=10)
    run.outcome()
    assert executions(run) == 1


def test_each_event_is_told_once_over_all_executions(begin: Begin) -> None:
    run = begin(*STAGES, takes=10, limits=SHORT)
    run.outcome()
    assert run.told == ["Initialized", *["StageStarted"] * 3, "Succeeded"]


def test_the_plan_is_not_made_again(begin: Begin) -> None:
    run = begin(*STAGES, takes=10, limits=SHORT)
    run.outcome()
    asked = sum((each.history.activities for each in run.temporal.executions), Counter())
    assert asked["find_snapshot"] == 1
    assert [each.paths for each in run.activities.writes].count(["/status"]) == 1


def test_clusters_to_be_removed_are_carried_on(begin: Begin) -> None:
    run = begin(*STAGES, leaving=("x", "y"), takes=10, limits=SHORT)
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.removed == ["x", "y"]


def test_what_people_want_and_its_generation_are_carried_on(begin: Begin) -> None:
    run = begin(*STAGES, takes=30, limits=SHORT)
    run.until_handed_out("a")
    run.stop()
    run.until_phase(Phase.STOPPED)
    run.resume()
    run.until_handed_out("b")
    assert executions(run) == 2
    # News of the generation that is carried on are old.
    run.signal("pause", ChangeState(generation=3))
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert {each.observed_generation for each in run.status.conditions} == {3}


def test_a_change_that_no_execution_has_come_to_look_at_is_looked_at_by_the_next(
    begin: Begin,
) -> None:
    run = begin(*STAGES, limits=SHORT)
    run.until_handed_out("a")
    run.report("a")
    run.until(lambda: executions(run) == 2, "the run continues as new")
    run.hub.placement = None
    assert run.outcome().reason == "UpdateRunFailed"
    assert run.activities.handed_out == ["a"]


def test_answers_that_people_wait_for_are_given_before_the_run_continues(begin: Begin) -> None:
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
    assert resume.result(Answer).text == "run v2 goes on"
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
