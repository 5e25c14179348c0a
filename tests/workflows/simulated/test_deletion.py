"""The deletion stage: clusters that are no longer picked are removed after all other stages."""

from datetime import timedelta

import pytest

from api.rollout_decisions import Decision
from api.rollout_policies import BudgetAction
from planning.runs import phases
from planning.runs.phases import Phase
from planning.runs.rules import RunRules, StageRules
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_hub import binding
from tests.workflows.simulated.simulated_runs import SimulatedRun, many, stage

TIMEOUT = timedelta(minutes=20)


def deletion(run: SimulatedRun) -> list[str]:
    """Return the reasons of the deletion stage's conditions."""
    found = run.status.deletion_stage_status
    assert found is not None
    return [each.reason for each in found.conditions]


def test_clusters_are_removed_after_all_stages_and_all_at_once(begin: Begin) -> None:
    leaving = tuple(many(40))
    run = begin(stage("one", "x"), stage("two", "y"), leaving=leaving)
    run.until_handed_out("x")
    run.report("x")
    run.until_handed_out("y")
    run.wait(60)
    assert run.activities.removed == []
    assert deletion(run) == []

    run.report("y")
    run.until(lambda: len(run.activities.removed) == 40, "all are being removed")
    assert run.activities.removed == list(leaving)
    assert run.activities.in_flight == set(leaving)
    run.report(*leaving[1:])
    run.wait(60)
    assert run.phase is Phase.RUNNING
    run.report(leaving[0])
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert deletion(run) == ["StageUpdatingSucceeded"] * 2


def test_a_cluster_that_is_already_gone_counts_as_removed(begin: Begin) -> None:
    run = begin(stage("one", "x"), leaving=("a", "b"))
    run.until_handed_out("x")
    del run.hub.bindings["a"]
    run.report("x")
    run.until(lambda: run.activities.removed == ["a", "b"], "both are to be removed")
    run.report("b")
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_with_nothing_to_remove_the_stage_succeeds_at_once(begin: Begin) -> None:
    run = begin(stage("one", "x"), takes=10)
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert deletion(run) == ["StageUpdatingSucceeded"] * 2
    assert run.activities.removed == []


def test_a_run_that_only_removes_clusters_succeeds(begin: Begin) -> None:
    run = begin(stage("one"), leaving=("a",), takes=10)
    run.until(lambda: run.activities.removed == ["a"], "it is to be removed")
    run.changed()
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_a_removal_that_takes_long_is_not_reported_as_stuck(begin: Begin) -> None:
    run = begin(stage("one", "x"), leaving=("a",), takes=lambda name: 10 if name == "x" else 4000)
    assert run.outcome().reason == "UpdateRunSucceeded"
    assert Phase.STUCK not in run.hub.phases


def test_a_binding_that_comes_back_after_its_removal_fails_the_stage(begin: Begin) -> None:
    run = begin(stage("one", "x"), leaving=("a", "b"))
    run.until_handed_out("x")
    run.report("x")
    run.until(lambda: run.activities.removed == ["a", "b"], "both are being removed")
    run.report("a")
    run.wait(5)
    run.hub.bindings["a"] = binding("a", state="Unscheduled")
    run.changed()
    assert run.outcome().reason == "UpdateRunFailed"
    assert "the deleted cluster `a` in the deleting stage still has a binding" in (
        run.succeeded.message
    )
    assert deletion(run)[-1] == "StageUpdatingFailed"


# -- with a rollout policy -----------------------------------------------------------------


def limited(**fields: object) -> RunRules:
    """Return rules with a time limit for removals, and these fields."""
    default = StageRules.model_validate({"timeout": TIMEOUT, **fields})
    return RunRules(default=default, stages={"one": StageRules()})


def removal(run: SimulatedRun, cluster: str) -> tuple[str, str]:
    """Return reason and message of the end of a removal; empty if it has not ended."""
    found = run.status.deletion_stage_status
    assert found is not None
    (entry,) = [each for each in found.clusters if each.cluster_name == cluster]
    ended = phases.end_of(entry)
    return (ended.reason, ended.message) if ended else ("", "")


def removing(begin: Begin, *leaving: str, **fields: object) -> SimulatedRun:
    """Return a run that removes clusters, of which none is gone yet."""
    run = begin(stage("one", "x"), leaving=leaving, **fields)
    run.until_handed_out("x")
    run.report("x")
    run.until(lambda: run.activities.removed == list(leaving), "they are being removed")
    return run


def test_a_removal_that_takes_too_long_fails(begin: Begin) -> None:
    run = removing(begin, "a", "b", rules=limited(most=1, retries=1))
    run.report("b")
    outcome = run.outcome()
    assert outcome.message == (
        "All stages are completed; 1 cluster failed, see ClusterRolloutReport v2"
    )
    assert removal(run, "a") == (
        "ClusterUpdatingTimedOut",
        "The cluster was not removed within 20m in any of 2 attempts",
    )
    assert run.timeline.passed == pytest.approx(2 * TIMEOUT, abs=timedelta(seconds=5))


@pytest.mark.parametrize("lost", ["", "worker", "temporal"])
def test_the_run_pauses_when_more_removals_fail_than_may(begin: Begin, lost: str) -> None:
    run = removing(begin, "a", "b", "c", rules=limited(), replays=lost != "temporal")
    run.until_phase(Phase.PAUSED)
    assert "3 of the 3 clusters" in run.progressing.message
    if lost == "worker":
        run.temporal.lose_worker()
    elif lost:
        run.lose_temporal()
    run.wait(3600)
    assert run.phase is Phase.PAUSED
    run.report("a")
    run.wait(1)
    assert removal(run, "a")[0] == "ClusterUpdatingSucceeded"
    run.decide(Decision.SKIP_CLUSTER, "b")
    assert run.phase is Phase.PAUSED
    run.decide(Decision.RETRY_CLUSTER, "c")
    run.wait(60)
    run.report("c")
    run.wait(1)
    assert removal(run, "c")[0] == "ClusterUpdatingSucceeded"
    run.decide(Decision.CONTINUE)
    assert run.outcome().message == (
        "All stages are completed; 1 cluster was skipped, see ClusterRolloutReport v2"
    )


def test_a_policy_may_end_the_run_instead(begin: Begin) -> None:
    run = removing(begin, "a", "b", rules=limited(action=BudgetAction.ABORT))
    outcome = run.outcome()
    assert outcome.reason == "UpdateRunFailed"
    assert "2 of the 2 clusters" in outcome.message
    assert deletion(run)[-1] == "StageUpdatingFailed"


def test_a_removal_may_be_skipped_while_it_goes_on_and_before(begin: Begin) -> None:
    run = begin(stage("one", "x"), leaving=("a", "b"))
    run.until_handed_out("x")
    run.decide(Decision.SKIP_CLUSTER, "b")
    run.report("x")
    run.until(lambda: run.activities.removed == ["a"], "it is being removed")
    run.decide(Decision.SKIP_CLUSTER, "a")
    assert run.outcome().message.startswith("All stages are completed; 2 clusters were skipped")
    assert "b" in run.hub.bindings
    assert removal(run, "b") == ("ClusterUpdatingSkipped", "Skipped by jane: INC-7")
