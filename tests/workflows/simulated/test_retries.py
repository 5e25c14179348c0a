"""Clusters that people have handed out again: in their stage, or at the end of the run."""

from datetime import timedelta

import pytest

from api.rollout_decisions import Decision, DecisionState
from api.rollout_policies import BudgetAction
from api.strategies import StageTask
from planning.runs import phases
from planning.runs.phases import Phase
from planning.runs.rules import RunRules, StageRules
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.histories import Limits
from tests.workflows.simulated.simulated_runs import SimulatedRun, many, stage
from workflows.update_run import LEAST_EVENTS

TIMEOUT = timedelta(minutes=20)
TOLERANT = RunRules(default=StageRules(timeout=TIMEOUT, most="100%"))
SHORT = Limits(suggest_events=20)
"""Less than a stage needs."""
DONE = "All stages are completed successfully"
APPROVAL = [StageTask(type="Approval")]


def retry(run: SimulatedRun, cluster: str) -> str:
    """Have a cluster handed out again, and return the answer."""
    answer = run.hub.answers[run.decide(Decision.RETRY_CLUSTER, cluster)]
    assert answer.state is DecisionState.COUNTED, answer.message
    return answer.message


def in_flight(run: SimulatedRun, index: int = 0) -> list[str]:
    return list(phases.in_flight(run.stage(index)))


def failed_in_an_earlier_stage(begin: Begin, **fields: object) -> SimulatedRun:
    """Return a run that updates stage `two`, after clusters `a` and `b` of stage `one` failed."""
    run = begin(
        stage("one", "a", "b", "c", maxConcurrency=3),
        stage("two", "d", "e"),
        **{"rules": TOLERANT, **fields},
    )
    run.until_handed_out("a", "b", "c")
    run.report("c")
    run.until_handed_out("d")
    return run


def test_a_cluster_of_an_earlier_stage_is_handed_out_again_after_the_last(begin: Begin) -> None:
    run = failed_in_an_earlier_stage(begin, leaving=("x",))
    assert retry(run, "a") == "cluster a is handed out again after the last stage of the run"
    run.wait(60)
    assert in_flight(run) == []
    run.report("d")
    run.until_handed_out("e")
    run.report("e")
    run.until(lambda: in_flight(run) == ["a"], "a is handed out again")
    assert run.activities.removed == []
    run.report("a")
    run.until(lambda: run.activities.removed == ["x"], "the deletion stage runs")
    run.report("x")
    outcome = run.outcome()
    assert outcome.message == (
        "All stages are completed; 1 cluster failed, see ClusterRolloutReport v2"
    )
    assert run.updated == ["a", "c", "d", "e"]


def test_its_activity_is_not_started_twice(begin: Begin) -> None:
    run = failed_in_an_earlier_stage(begin)
    retry(run, "a")
    run.report("a", "d")
    run.until_handed_out("e")
    run.report("e")
    run.outcome()
    assert run.activities.handed_out == ["a", "b", "c", "d", "e"]


def test_a_skipped_cluster_of_an_earlier_stage_too(begin: Begin) -> None:
    run = begin(stage("one", "a"), stage("two", "b"))
    run.until_handed_out("a")
    run.decide(Decision.SKIP_CLUSTER, "a")
    run.until_handed_out("b")
    retry(run, "a")
    assert run.hub.answers[run.decide(Decision.RETRY_CLUSTER, "a")].message == (
        "cluster a is about to be handed out again already"
    )
    run.report("b")
    run.until(lambda: in_flight(run) == ["a"], "a is handed out again")
    run.report("a")
    assert run.outcome().message == DONE


def test_a_skipped_cluster_whose_stage_is_ahead_is_skipped_no_more(begin: Begin) -> None:
    run = begin(stage("one", "a"), stage("two", "b", "c"))
    run.until_handed_out("a")
    run.decide(Decision.SKIP_CLUSTER, "b")
    assert retry(run, "b") == "cluster b is skipped no more; its stage is still ahead"
    run.wait(1)
    run.lose_temporal()
    run.wait(10)
    run.report("a")
    run.until_handed_out("b")
    run.report("b")
    run.until_handed_out("c")
    run.report("c")
    assert run.outcome().message == DONE


def test_a_retry_while_the_gates_after_its_stage_are_open_waits_for_the_end(begin: Begin) -> None:
    run = begin(
        stage("one", "a", "b", maxConcurrency=2, after_stage_tasks=APPROVAL),
        stage("two", "c"),
        rules=TOLERANT,
    )
    run.until_handed_out("a", "b")
    run.report("b")
    request = f"{run.hub.run.name}-after-one"
    run.until_asked(request)
    assert "after the last stage" in retry(run, "a")
    run.approve(request)
    run.until_handed_out("c")
    run.report("a", "c")
    assert run.outcome().message == DONE


def test_as_many_at_once_as_in_their_stage(begin: Begin) -> None:
    run = begin(
        stage("one", *many(4), maxConcurrency=2), stage("two", "z"), rules=TOLERANT, leaving=("x",)
    )
    run.until_handed_out("z")
    for cluster in many(4):
        retry(run, cluster)
    run.report("z")
    run.until(lambda: len(in_flight(run)) == 2, "two are handed out again")
    run.wait(60)
    assert in_flight(run) == many(4)[:2]
    run.report(*many(4))
    run.until(lambda: run.activities.removed == ["x"], "the deletion stage runs")
    run.report("x")
    assert run.outcome().message == DONE


def test_the_time_limit_of_the_stage_holds_then_too(begin: Begin) -> None:
    rules = RunRules(stages={"one": StageRules(timeout=TIMEOUT, most=1, retries=1)})
    run = begin(stage("one", "a"), stage("two", "b"), rules=rules)
    run.until_handed_out("b")
    retry(run, "a")
    run.report("b")
    run.until(lambda: in_flight(run) == ["a"], "a is handed out again")
    begun_at = run.timeline.now
    assert run.outcome().message.startswith("All stages are completed; 1 cluster failed")
    took = run.timeline.now - begun_at
    assert 2 * TIMEOUT <= took < 2 * TIMEOUT + timedelta(seconds=5)


def test_a_retry_that_fails_again_spends_the_budget_that_it_gave_back(begin: Begin) -> None:
    rules = RunRules(stages={"one": StageRules(timeout=TIMEOUT, most=0)})
    run = begin(stage("one", "a", "b", maxConcurrency=2), stage("two", "c"), rules=rules)
    run.until_phase(Phase.PAUSED)
    run.decide(Decision.CONTINUE)
    run.until_handed_out("c")
    retry(run, "a")
    run.report("c")
    outcome = run.outcome()
    assert outcome.message.startswith("All stages are completed; 2 clusters failed")
    assert run.hub.phases.count(Phase.PAUSED) == 1


@pytest.mark.parametrize("action", [BudgetAction.PAUSE, BudgetAction.ABORT])
def test_the_budget_of_the_stage_holds_then_too(begin: Begin, action: BudgetAction) -> None:
    rules = RunRules(stages={"one": StageRules(timeout=TIMEOUT, most=0, action=action)})
    run = begin(stage("one", "a"), stage("two", "b"), rules=rules)
    run.until_handed_out("a")
    run.decide(Decision.SKIP_CLUSTER, "a")
    run.until_handed_out("b")
    retry(run, "a")
    run.report("b")
    if action is BudgetAction.ABORT:
        assert "1 of the 1 clusters of stage one failed" in run.outcome().message
        return
    run.until_phase(Phase.PAUSED)
    retry(run, "a")
    run.report("a")
    run.wait(60)
    assert run.phase is Phase.PAUSED
    run.decide(Decision.CONTINUE)
    assert run.outcome().message == DONE


def test_a_stop_holds_them_back_and_lets_those_in_flight_finish(begin: Begin) -> None:
    run = failed_in_an_earlier_stage(begin, rules=TOLERANT)
    retry(run, "a")
    run.stop()
    run.report("d")
    run.until_phase(Phase.STOPPED)
    retry(run, "b")
    run.resume()
    run.until_handed_out("e")
    run.report("e")
    run.until(lambda: in_flight(run) == ["a", "b"], "they are handed out again")
    run.stop()
    run.report("a", "b")
    run.until_phase(Phase.STOPPED)
    run.resume()
    assert run.outcome().message == DONE


def test_a_retry_during_the_deletion_stage_follows_it(begin: Begin) -> None:
    run = begin(stage("one", "a"), rules=TOLERANT, leaving=("x",))
    run.until(lambda: run.activities.removed == ["x"], "the deletion stage runs")
    retry(run, "a")
    run.wait(60)
    assert in_flight(run) == []
    run.report("x")
    run.until(lambda: in_flight(run) == ["a"], "a is handed out again")
    run.report("a")
    assert run.outcome().message == DONE


@pytest.mark.parametrize("when", ["due", "in flight"])
@pytest.mark.parametrize("lost", ["worker", "temporal"])
def test_a_retry_outlives_the_loss_of(begin: Begin, lost: str, when: str) -> None:
    run = failed_in_an_earlier_stage(begin, replays=lost == "worker", leaving=("x",))
    retry(run, "a")
    if when == "in flight":
        run.report("d")
        run.until_handed_out("e")
        run.report("e")
        run.until(lambda: in_flight(run) == ["a"], "a is handed out again")
    run.wait(1)
    if lost == "worker":
        run.temporal.lose_worker()
    else:
        run.lose_temporal()
        run.wait(10)
    if when == "due":
        assert in_flight(run) == []
        run.report("d")
        run.until_handed_out("e")
        run.report("e")
        run.until(lambda: in_flight(run) == ["a"], "a is handed out again")
    run.wait(1)
    assert run.activities.removed == []
    run.report("a")
    run.until(lambda: run.activities.removed == ["x"], "the deletion stage runs")
    run.report("x")
    assert run.outcome().message.startswith("All stages are completed; 1 cluster failed")
    assert run.updated == ["a", "c", "d", "e"]


def test_retries_are_carried_over_to_the_next_execution(begin: Begin) -> None:
    run = failed_in_an_earlier_stage(begin, limits=SHORT, leaving=("x",))
    assert len(run.temporal.executions) == 2
    for cluster in ("a", "b"):
        retry(run, cluster)
    run.report("d")
    run.until_handed_out("e")
    run.report("e")
    run.until(lambda: in_flight(run) == ["a", "b"], "they are handed out again")
    assert len(run.temporal.executions) == 3
    run.report("b")
    for _ in range(LEAST_EVENTS // 6):
        run.changed()
        run.wait(1)
    assert len(run.temporal.executions) == 4
    run.report("a")
    run.until(lambda: run.activities.removed == ["x"], "the deletion stage runs")
    run.report("x")
    assert run.outcome().message == DONE


# -- applied at once -----------------------------------------------------------------------


def test_agents_apply_the_content_at_once_in_each_further_attempt(begin: Begin) -> None:
    rules = RunRules(default=StageRules(timeout=TIMEOUT, retries=2, most="100%"))
    run = begin(stage("one", "a", "b", maxConcurrency=2), rules=rules)
    run.until_handed_out("a", "b")
    run.report("b")
    run.wait(TIMEOUT.total_seconds() - 60)
    assert run.activities.applied_again == []
    run.outcome()
    assert run.activities.applied_again == ["a", "a"]


def test_also_when_a_person_asks_for_it(begin: Begin) -> None:
    run = failed_in_an_earlier_stage(begin)
    run.decide(Decision.SKIP_CLUSTER, "e")
    for cluster in ("a", "e"):
        retry(run, cluster)
    run.report("d")
    run.until_handed_out("e")
    run.report("e")
    run.until(lambda: in_flight(run) == ["a"], "a is handed out again")
    run.wait(1)
    # e has not been handed out before.
    assert run.activities.applied_again == ["a"]


def test_a_stuck_cluster_is_applied_again_without_a_policy_too(begin: Begin) -> None:
    run = begin(stage("one", "a"))
    run.until_phase(Phase.STUCK)
    retry(run, "a")
    run.wait(1)
    assert run.activities.applied_again == ["a"]


@pytest.mark.parametrize("lost", ["worker", "temporal"])
def test_a_pause_at_the_end_outlives_the_loss_of(begin: Begin, lost: str) -> None:
    rules = RunRules(stages={"one": StageRules(timeout=TIMEOUT, most=0)})
    run = begin(
        stage("one", "a"), stage("two", "b"), rules=rules, leaving=("x",), replays=lost == "worker"
    )
    run.until_handed_out("a")
    run.decide(Decision.SKIP_CLUSTER, "a")
    run.until_handed_out("b")
    retry(run, "a")
    run.report("b")
    run.until_phase(Phase.PAUSED)
    run.wait(1)
    if lost == "worker":
        run.temporal.lose_worker()
    else:
        run.lose_temporal()
    run.wait(3600)
    assert (run.phase, run.activities.removed) == (Phase.PAUSED, [])
    run.decide(Decision.CONTINUE)
    run.until(lambda: run.activities.removed == ["x"], "the deletion stage runs")
    run.report("x")
    assert run.outcome().message.startswith("All stages are completed; 1 cluster failed")
