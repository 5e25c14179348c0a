"""A run whose workflow Temporal has lost resumes from what the hub recorded."""

from datetime import timedelta
from typing import Any

import pytest

from api.runs import RunState
from api.strategies import StageTask
from planning.runs import phases
from planning.runs.phases import Phase
from planning.runs.run_events import EventReason
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_runs import SimulatedRun, stage

APPROVAL = [StageTask(type="Approval")]
WAIT = [StageTask(type="TimedWait", wait_time="10m")]
SUCCEEDED = "UpdateRunSucceeded"


def in_flight(run: SimulatedRun, index: int = 0) -> list[str]:
    return list(phases.in_flight(run.stage(index)))


def test_clusters_in_flight_are_taken_up_and_those_done_are_left_alone(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", "c"), stage("two", "d"))
    run.until_handed_out("a")
    run.report("a")
    run.until_handed_out("b")
    run.wait(1)
    begun = phases.in_flight(run.stage())
    run.lose_temporal()
    run.until(lambda: EventReason.ADOPTED in run.told, "the run is adopted")
    assert run.hub.events[-1].message.endswith("0 of 2 stages, 1 of 4 clusters")
    run.wait(1)
    assert run.activities.written["b"].handed_out == begun["b"]
    run.report("b", "c", "d")
    assert run.outcome().reason == SUCCEEDED
    assert run.activities.handed_out == ["a", "b", "c", "d"]
    assert phases.done(run.stage()) == 3


def test_a_cluster_that_was_done_meanwhile_is_done_at_once(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", maxConcurrency="100%"), takes=60)
    run.until_handed_out("a", "b")
    run.wait(1)
    run.lose_temporal(away=300)
    assert run.outcome().reason == SUCCEEDED
    assert run.timeline.passed < timedelta(seconds=310)


@pytest.mark.parametrize("given", ["before", "while away", "after"])
def test_an_approval_counts_whenever_it_is_given(begin: Begin, given: str) -> None:
    run = begin(stage("one", "a", before_stage_tasks=APPROVAL), takes=1)
    request = f"{run.hub.run.name}-before-one"
    run.until_asked(request)
    if given == "before":
        run.approve(request)
    run.lose_temporal()
    if given == "while away":
        run.wait(1)
        run.approve(request)
    if given == "after":
        run.until(lambda: EventReason.ADOPTED in run.told, "the run is adopted")
        run.wait(1)
        run.approve(request)
    assert run.outcome().reason == SUCCEEDED
    assert run.told.count(EventReason.WAITING) == 1
    assert run.told.count(EventReason.APPROVED) == 1


def test_a_wait_ends_when_it_would_have_ended(begin: Begin) -> None:
    run = begin(stage("one", "a", after_stage_tasks=WAIT), takes=1)
    run.until_phase(Phase.WAITING)
    run.wait(120)
    run.lose_temporal(away=240)
    assert run.outcome().reason == SUCCEEDED
    assert run.timeline.passed == pytest.approx(timedelta(seconds=601), abs=timedelta(seconds=1))


def test_a_wait_that_is_over_meanwhile_is_passed_at_once(begin: Begin) -> None:
    run = begin(stage("one", "a", after_stage_tasks=WAIT), takes=1)
    run.until_phase(Phase.WAITING)
    run.lose_temporal(away=1_000)
    assert run.outcome().reason == SUCCEEDED
    assert run.timeline.passed < timedelta(seconds=1_010)


def test_a_stopped_run_stays_stopped_until_it_is_resumed(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), takes=10)
    run.until_handed_out("a")
    run.stop()
    run.until_phase(Phase.STOPPED)
    run.wait(1)
    run.lose_temporal()
    run.wait(600)
    assert (run.phase, run.activities.handed_out) == (Phase.STOPPED, ["a"])
    run.resume()
    assert run.outcome().reason == SUCCEEDED
    assert run.told.count(EventReason.STOPPED) == 1


def test_a_stop_or_resume_while_temporal_is_away_is_obeyed(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"))
    run.until_handed_out("a")
    run.wait(1)
    run.lose_temporal(away=60)
    run.stop()
    run.wait(120)
    assert run.phase is Phase.STOPPING
    run.report("a")
    run.until_phase(Phase.STOPPED)
    run.lose_temporal(away=60)
    run.resume()
    run.until_handed_out("b")
    run.report("b")
    assert run.outcome().reason == SUCCEEDED


def test_a_removal_is_taken_up(begin: Begin) -> None:
    run = begin(stage("one", "a"), leaving=("x", "y"), takes=1)
    run.activities.takes["remove_cluster"] = 30
    run.until(lambda: run.activities.removed == ["x", "y"], "removals have begun")
    run.wait(1)
    run.lose_temporal()
    assert run.outcome().reason == SUCCEEDED
    assert "y" not in run.hub.bindings
    assert run.updated == ["a"]


def test_a_stuck_cluster_is_reported_by_its_first_start(begin: Begin) -> None:
    run = begin(stage("one", "a"), stuck_after=timedelta(minutes=5))
    run.until_handed_out("a")
    run.wait(200)
    run.lose_temporal(away=60)
    run.until_phase(Phase.STUCK)
    assert run.timeline.passed == pytest.approx(timedelta(seconds=300), abs=timedelta(seconds=2))


def test_the_start_of_a_run_that_was_only_planned_is_kept(begin: Begin) -> None:
    run = begin(stage("one", "a"), takes=1, state=RunState.INITIALIZE)
    run.until_phase(Phase.PLANNED)
    run.wait(1)
    run.lose_temporal(away=60)
    run.resume()
    assert run.outcome().reason == SUCCEEDED
    assert run.told.count(EventReason.INITIALIZED) == 1


def test_a_run_that_has_ended_stays_as_it_is(begin: Begin) -> None:
    run = begin(stage("one", "a"), takes=1)
    run.outcome()
    body, told = run.hub.body, run.told
    run.temporal.closed = None
    run.lose_temporal()
    assert run.outcome().reason == SUCCEEDED
    assert (run.hub.body, run.told) == (body, told)


def remove_snapshot(run: SimulatedRun) -> None:
    run.hub.snapshots.clear()


def remove_stage(run: SimulatedRun) -> None:
    run.hub.body["stagesStatus"].pop()


def finish_stage(run: SimulatedRun) -> None:
    stages: list[dict[str, Any]] = run.hub.body["stagesStatus"]
    stages[1]["conditions"] = stages[0]["conditions"]


def replan(run: SimulatedRun) -> None:
    run.hub.policy = run.hub.policy.model_copy(update={"name": "web-1", "index": "1"})
    for name, found in run.hub.bindings.items():
        run.hub.bindings[name] = found.model_copy(update={"policy_snapshot": "web-1"})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (remove_snapshot, "no resourceSnapshots with index `1` found"),
        (remove_stage, "the number of stages in the updateRun has changed"),
        (finish_stage, "the finished stage `1` is after the updating stage `0`"),
        (replan, "policy snapshot index used in the updateRun is outdated, latest: 1, recorded: 0"),
    ],
)
def test_a_run_that_cannot_resume_fails_and_says_why(begin: Begin, change: Any, why: str) -> None:
    run = begin(stage("one", "a"), stage("two", "b"))
    run.until_handed_out("a")
    run.wait(1)
    run.lose_temporal()
    change(run)
    outcome = run.outcome()
    assert outcome.reason == "UpdateRunFailed"
    assert why in outcome.message
    assert run.activities.handed_out == ["a"]
