"""A worker may be killed at any moment: the next one continues from the history."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from api.reasons import ConditionType
from planning import conditions
from planning.runs.phases import Phase
from tests.planning.run_samples import APPROVAL, WAIT
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.histories import Limits
from tests.workflows.simulated.simulated_runs import SimulatedRun, stage

WAIT_IS_OVER = timedelta(seconds=100)
Go = Callable[[], SimulatedRun]


@pytest.fixture
def eventful(begin: Begin) -> Go:
    """Start an eventful run: gates, waits, several clusters, removals, a new execution."""

    def go() -> SimulatedRun:
        run = begin(
            stage("one", "a", "b", "c", max_concurrency=2, after_stage_tasks=[WAIT]),
            stage("two", "d", before_stage_tasks=[APPROVAL]),
            leaving=("x",),
            takes=10,
            limits=Limits(suggest_events=50),
        )
        run.hub.open_approval("v2-before-two", "two")
        run.approve("v2-before-two")
        return run

    return go


def test_each_cluster_is_handed_out_once_whenever_the_worker_dies(eventful: Go) -> None:
    whole = eventful()
    whole.outcome()
    for second in range(0, int(whole.timeline.passed.total_seconds()), 5):
        run = eventful()
        run.wait(second)
        run.temporal.lose_worker()
        assert run.outcome().reason == "UpdateRunSucceeded"
        assert run.activities.handed_out == ["a", "b", "c", "d"]
        assert run.activities.removed == ["x"]
        assert run.activities.most_in_flight <= 2


@pytest.mark.parametrize("moment", range(0, 160, 10))
def test_the_run_succeeds_whenever_the_worker_dies_at_its_start(eventful: Go, moment: int) -> None:
    run = eventful()
    run.wait(moment / 1000)
    run.temporal.lose_worker()
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert run.activities.handed_out == ["a", "b", "c", "d"]
    assert (
        run.hub.phases == [Phase.PLANNED, Phase.RUNNING, Phase.WAITING] * 1 + (run.hub.phases[3:])
    )


def test_people_never_see_a_decision_of_a_lost_worker_that_the_next_one_makes_again(
    begin: Begin,
) -> None:
    run = begin(stage("one", "a"), takes=30)
    run.until(lambda: bool(run.activities.writes), "the plan is on the hub")
    assert run.activities.writes[0].local
    seen = conditions.find(run.status.conditions, ConditionType.INITIALIZED)
    run.temporal.lose_worker()
    run.outcome()
    assert run.timeline.passed.total_seconds() > 10
    assert conditions.find(run.status.conditions, ConditionType.INITIALIZED) == seen


def test_a_message_to_a_lost_worker_is_handled_by_the_next(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"))
    run.activities.takes["write_status"] = 5
    run.wait(0.2)
    stop = run.temporal.send_update("pause")
    run.wait(1)
    assert stop.accepted is None, "a local activity keeps the task open, and messages wait"
    run.temporal.lose_worker()
    run.until(lambda: stop.is_over, "the update is answered")
    assert stop.failure == ""
    run.until_phase(Phase.STOPPED)
    assert run.activities.handed_out == []


def test_a_stop_survives_the_worker(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"))
    run.until_handed_out("a")
    run.stop()
    run.until_phase(Phase.STOPPING)
    run.temporal.lose_worker()
    run.report("a")
    run.until_phase(Phase.STOPPED)
    run.temporal.lose_worker()
    run.wait(3600)
    assert run.activities.handed_out == ["a"]
    run.resume()
    run.until_handed_out("b")


def test_an_open_gate_survives_the_worker(begin: Begin) -> None:
    run = begin(stage("one", "a", before_stage_tasks=[APPROVAL]))
    run.until_asked("v2-before-one")
    run.temporal.lose_worker()
    run.approve("v2-before-one")
    run.until_handed_out("a")
    assert run.activities.attempts["open_approval"] == 1


def test_a_timed_wait_continues_while_there_is_no_worker(begin: Begin) -> None:
    run = begin(stage("one", "a", after_stage_tasks=[WAIT]), stage("two", "b"), takes=10)
    run.until(lambda: run.updated == ["a"], "the stage has its clusters updated")
    opened_at = run.timeline.now
    run.temporal.execution.lose_worker(away=WAIT_IS_OVER)
    run.until_handed_out("b")
    assert run.timeline.now - opened_at < WAIT_IS_OVER * 1.05
