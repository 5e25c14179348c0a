"""Stopping and resuming at every point, from the hub and from Temporal."""

from collections.abc import Callable

import pytest

from api.runs import RunState
from planning.runs.phases import Phase
from tests.planning.run_samples import APPROVAL, WAIT
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.histories import Limits
from tests.workflows.simulated.simulated_runs import SimulatedRun, stage
from workflows.messages import Answer, ChangeState, Forecast

BEFORE = "v2-before-one"
AFTER = "v2-after-one"
Deed = Callable[[SimulatedRun], object]
BOTH_WAYS = pytest.mark.parametrize(
    "stop",
    [SimulatedRun.stop, lambda run: run.signal("pause"), lambda run: run.update("pause")],
    ids=["on the hub", "by signal", "by update"],
)


# -- before the first cluster --------------------------------------------------------------


def test_an_initialized_run_changes_nothing_until_it_is_started(begin: Begin) -> None:
    run = begin(stage("one", "a"), state=RunState.INITIALIZE)
    run.until_phase(Phase.PLANNED)
    run.wait(3600)
    assert run.phase is Phase.PLANNED
    assert [each.type for each in run.status.conditions] == ["Initialized"]
    assert run.activities.handed_out == []

    run.resume()
    run.until_handed_out("a")


def test_a_run_created_stopped_is_planned_and_stopped(begin: Begin) -> None:
    run = begin(stage("one", "a"), state=RunState.STOP, takes=10)
    run.until_phase(Phase.STOPPED)
    run.wait(3600)
    assert run.activities.handed_out == []
    assert run.stage().start_time is None

    run.resume()
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_a_run_that_never_started_cannot_be_paused(begin: Begin) -> None:
    run = begin(stage("one", "a"), state=RunState.INITIALIZE)
    run.until_phase(Phase.PLANNED)
    sent = run.update("pause", ChangeState())
    assert sent.accepted is False
    assert "was never started, so there is nothing to stop" in sent.failure
    assert run.temporal.query("would_pause", kind=Forecast).refusal == sent.failure

    assert run.update("resume", ChangeState()).result(Answer).text == "run v2 is running"
    assert run.hub.spec.state is RunState.RUN
    run.until_handed_out("a")


@pytest.mark.parametrize("state", [RunState.RUN, RunState.INITIALIZE])
def test_a_pause_before_the_first_survey_takes_effect(begin: Begin, state: RunState) -> None:
    run = begin(stage("one", "a"), state=state)
    run.activities.takes["survey"] = 10
    run.wait(1)
    sent = run.temporal.send_update("pause", ChangeState(by="alice"))
    run.wait(60)
    if state is RunState.INITIALIZE:
        assert "was never started" in sent.failure
        assert run.phase is Phase.PLANNED
    else:
        assert sent.result(Answer).text == "run v2 is stopped"
        assert run.phase is Phase.STOPPED
        assert run.hub.spec.state is RunState.STOP
    assert run.activities.handed_out == []


def test_a_pause_of_a_run_that_cannot_be_initialized_is_answered(begin: Begin) -> None:
    run = begin(stage("one", "a"))
    run.hub.exists = False
    run.activities.takes["survey"] = 10
    run.wait(1)
    sent = run.temporal.send_update("pause", ChangeState())
    run.wait(60)
    assert sent.failure == "run v2 has ended and cannot be changed; create a new run"


# -- clusters in flight --------------------------------------------------------------------


@BOTH_WAYS
def test_a_stop_waits_for_the_cluster_in_flight_and_starts_no_other(
    begin: Begin, stop: Deed
) -> None:
    run = begin(stage("one", "a", "b"))
    run.until_handed_out("a")
    run.wait(1)
    stop(run)
    run.until_phase(Phase.STOPPING)
    run.wait(120)
    assert (run.phase, run.progressing.status) == (Phase.STOPPING, "Unknown")
    assert run.stage().conditions[0].reason == "StageUpdatingStopping"

    run.report("a")
    run.until_phase(Phase.STOPPED)
    assert run.updated == ["a"]
    assert run.stage().conditions[0].reason == "StageUpdatingStopped"
    run.wait(3600)
    assert run.activities.handed_out == ["a"]
    assert run.hub.spec.state is RunState.STOP

    run.resume()
    run.until_handed_out("b")
    run.report("b")
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_a_run_is_stopped_only_when_the_last_cluster_in_flight_is_done(begin: Begin) -> None:
    clusters = ["a", "b", "c", "d", "e"]
    run = begin(stage("one", *clusters, max_concurrency=3))
    run.until_handed_out("a", "b", "c")
    run.stop()
    for cluster in ("b", "a"):
        run.wait(30)
        run.report(cluster)
        run.wait(30)
        assert run.phase is Phase.STOPPING
    run.report("c")
    run.until_phase(Phase.STOPPED)
    assert run.activities.handed_out == ["a", "b", "c"]

    run.resume()
    run.until_handed_out(*clusters)


def test_a_stopped_stage_is_not_over_even_if_all_its_clusters_are_done(begin: Begin) -> None:
    run = begin(stage("one", "a"), stage("two", "b"))
    run.until_handed_out("a")
    run.stop()
    run.until_phase(Phase.STOPPING)
    run.report("a")
    run.until_phase(Phase.STOPPED)
    run.wait(60)
    assert [each.type for each in run.stage().conditions] == ["Progressing"]

    run.resume()
    run.until_handed_out("b")
    run.wait(1)
    assert run.stage().conditions[-1].reason == "StageUpdatingSucceeded"


def test_a_resume_before_the_stop_is_complete_takes_effect_at_once(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), takes=30)
    run.until_handed_out("a")
    run.stop()
    run.until_phase(Phase.STOPPING)
    run.resume()
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert Phase.STOPPED not in run.hub.phases


def test_the_answer_to_a_pause_says_how_many_clusters_are_in_flight(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", "c", max_concurrency=2))
    run.until_handed_out("a", "b")
    told = run.update("pause", ChangeState(by="alice")).result(Answer).text
    assert told == ("run v2 is stopping: it waits for 2 clusters in flight and starts no other")
    run.report("a", "b")
    run.until_phase(Phase.STOPPED)
    assert run.update("pause", ChangeState()).result(Answer).text == "run v2 is stopped"


def test_a_stop_through_temporal_takes_effect_while_the_hub_is_unreachable(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"))
    run.until_handed_out("a")
    run.activities.fail("set_state", attempts=10)
    run.signal("pause", ChangeState())
    run.wait(1)
    run.report("a")
    run.until_phase(Phase.STOPPED)
    assert run.hub.generation == 1
    run.wait(120)
    assert (run.hub.generation, run.hub.spec.state) == (2, RunState.STOP)
    assert run.activities.handed_out == ["a"]


def test_a_state_that_the_hub_refuses_is_reverted_and_its_sender_is_notified(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), takes=30)
    run.until_handed_out("a")
    run.activities.refuses_states = "denied by a policy"
    sent = run.update("pause", ChangeState())
    assert (sent.accepted, sent.failure) == (True, "denied by a policy")
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_the_later_of_two_requests_counts(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), takes=30)
    run.until_handed_out("a")
    run.activities.takes["set_state"] = 5
    run.signal("pause", ChangeState())
    run.wait(1)
    run.signal("resume", ChangeState())
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.hub.spec.state is RunState.RUN
    assert Phase.STOPPED not in run.hub.phases


def test_repeated_and_late_messages_change_nothing(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), takes=30)
    run.until_handed_out("a")
    run.stop()
    run.until_phase(Phase.STOPPING)
    run.resume()
    run.until_phase(Phase.RUNNING)
    for generation in (2, 2, 1):
        run.signal("pause", ChangeState(generation=generation))
        run.wait(1)
    assert run.phase is Phase.RUNNING
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_a_generation_that_the_spec_never_had_does_not_make_real_changes_outdated(
    begin: Begin,
) -> None:
    run = begin(stage("one", "a", "b", "c"))
    run.until_handed_out("a")
    run.signal("pause", ChangeState(generation=999))
    run.wait(1)
    run.report("a")
    run.until_handed_out("b")

    run.signal("resume", ChangeState(generation=999))
    run.wait(1)
    run.stop()
    run.until_phase(Phase.STOPPING)
    run.report("b")
    run.until_phase(Phase.STOPPED)
    assert run.progressing.observed_generation == run.hub.generation == 2


def test_after_a_stop_and_a_resume_all_conditions_have_the_new_generation(
    begin: Begin,
) -> None:
    run = begin(stage("one", "a"), stage("two", "b"), takes=30)
    run.until_handed_out("b")
    run.stop()
    run.until_phase(Phase.STOPPED)
    run.resume()
    run.outcome()
    found = [
        *run.status.conditions,
        *(each for stage in run.status.stages_status for each in stage.conditions),
        *(
            each
            for stage in run.status.stages_status
            for cluster in stage.clusters
            for each in cluster.conditions
        ),
    ]
    assert {each.observed_generation for each in found} == {3}


# -- gates ---------------------------------------------------------------------------------


@BOTH_WAYS
def test_an_approval_given_while_stopped_counts_after_the_resume(begin: Begin, stop: Deed) -> None:
    run = begin(stage("one", "a", before_stage_tasks=[APPROVAL]))
    run.until_asked(BEFORE)
    stop(run)
    run.until_phase(Phase.STOPPED)
    run.approve(BEFORE)
    run.wait(3600)
    assert run.activities.handed_out == []
    assert run.phase is Phase.STOPPED

    run.resume()
    run.until_handed_out("a")


def test_the_answer_to_an_approval_while_stopped_says_when_it_takes_effect(begin: Begin) -> None:
    run = begin(stage("one", "a", before_stage_tasks=[APPROVAL]))
    run.until_asked(BEFORE)
    run.stop()
    run.until_phase(Phase.STOPPED)
    told = run.update("approve").result(Answer).text
    assert told == "stage one (before) is approved; it takes effect when the run is resumed"
    run.wait(60)
    assert run.activities.handed_out == []


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_run_stopped_at_a_gate_waits_there_again_when_resumed(begin: Begin, side: str) -> None:
    run = begin(stage("one", "a", **{f"{side}_stage_tasks": [APPROVAL]}), takes=10)
    run.until_asked(f"v2-{side}-one")
    run.stop()
    run.until_phase(Phase.STOPPED)
    run.resume()
    run.until_phase(Phase.WAITING)
    assert run.stage().conditions[0].reason == "StageUpdatingWaiting"
    assert run.activities.attempts["open_approval"] == 1

    run.approve(f"v2-{side}-one")
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_a_wait_that_ends_while_stopped_counts_after_the_resume(begin: Begin) -> None:
    run = begin(stage("one", "a", after_stage_tasks=[WAIT]), stage("two", "b"), takes=10)
    run.until(lambda: run.updated == ["a"], "the stage has its clusters updated")
    run.stop()
    run.until_phase(Phase.STOPPED)
    run.wait(3600)
    assert run.activities.handed_out == ["a"]
    assert run.stage().after_stage_task_status[0].conditions == []

    run.resume()
    resumed_at = run.timeline.now
    run.until_handed_out("b")
    assert (run.timeline.now - resumed_at).total_seconds() < 1


def test_a_stop_does_not_restart_a_wait(begin: Begin) -> None:
    run = begin(stage("one", "a", after_stage_tasks=[WAIT]), stage("two", "b"), takes=10)
    run.until(lambda: run.updated == ["a"], "the stage has its clusters updated")
    opened_at = run.timeline.now
    run.wait(30)
    run.stop()
    run.wait(30)
    run.resume()
    run.until_handed_out("b")
    assert 89 < (run.timeline.now - opened_at).total_seconds() < 91


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_stop_while_an_approval_is_being_accepted_stops_the_run(begin: Begin, side: str) -> None:
    run = begin(
        stage("one", "a", **{f"{side}_stage_tasks": [APPROVAL]}), stage("two", "b"), takes=10
    )
    run.until_asked(f"v2-{side}-one")
    before = list(run.activities.handed_out)
    run.activities.takes["accept_approval"] = 5
    run.approve(f"v2-{side}-one")
    run.wait(1)
    run.stop()
    run.until_phase(Phase.STOPPED)
    run.wait(60)
    assert run.activities.handed_out == before

    run.resume()
    assert run.outcome().reason == "UpdateRunSucceeded"


# -- the deletion stage --------------------------------------------------------------------


def test_a_run_stopped_between_the_last_stage_and_the_deletion_stage_removes_nothing(
    begin: Begin,
) -> None:
    run = begin(stage("one", "a", after_stage_tasks=[APPROVAL]), leaving=("x",), takes=10)
    run.until_asked(AFTER)
    run.activities.takes["accept_approval"] = 5
    run.approve(AFTER)
    run.wait(1)
    run.stop()
    run.until_phase(Phase.STOPPED)
    run.wait(3600)
    assert run.activities.removed == []

    run.resume()
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.removed == ["x"]


def test_a_run_that_only_removes_clusters_and_is_created_stopped_removes_none(
    begin: Begin,
) -> None:
    run = begin(leaving=("x",), state=RunState.STOP, takes=10)
    run.until_phase(Phase.STOPPED)
    run.wait(3600)
    assert run.activities.removed == []

    run.resume()
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_a_run_stopped_while_a_new_execution_starts_the_deletion_stage_removes_nothing(
    begin: Begin,
) -> None:
    run = begin(stage("one", "a"), leaving=("x",), takes=10, limits=Limits(suggest_events=20))
    run.until(lambda: len(run.temporal.executions) == 2, "the run continues as new")
    run.stop()
    run.until_phase(Phase.STOPPED)
    run.wait(3600)
    assert run.activities.removed == []

    run.resume()
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_a_stop_waits_for_bindings_that_are_being_deleted(begin: Begin) -> None:
    run = begin(stage("one", "a"), leaving=("x", "y"))
    run.until_handed_out("a")
    run.report("a")
    run.until(lambda: run.activities.removed == ["x", "y"], "both are being deleted")
    run.stop()
    run.until_phase(Phase.STOPPING)
    run.report("x")
    run.wait(60)
    assert run.phase is Phase.STOPPING
    run.report("y")
    run.until_phase(Phase.STOPPED)

    run.resume()
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.removed == ["x", "y"]
