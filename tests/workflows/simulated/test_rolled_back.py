"""Runs that their rollout policy rolls back: what the other run does, once, whatever is lost."""

from datetime import timedelta

import pytest

from api.names import MEMBER_NAME
from api.rollout_decisions import Decision, DecisionState
from api.rollout_policies import BudgetAction, OnRemoved, RollbackGates, RollbackOrder
from api.rollout_reports import ClusterOutcome, PolicyField
from api.strategies import StrategySpec
from planning.policies import rolling_back as rolling_back_rules
from planning.policies.rolling_back import RollbackPlan
from planning.runs.phases import Phase
from planning.runs.rules import RunRules, StageRules
from tests.workflows.simulated.conftest import Begin
from tests.workflows.simulated.simulated_runs import SimulatedRun, many, stage

TIMEOUT = timedelta(minutes=20)
SOURCE = PolicyField(name="failures.action", value="RollBack", policy="guard", generation=1)
REMOVED = PolicyField(name="membership.removed", value="Skip", policy="guard", generation=1)
APPROVAL = [{"type": "Approval"}]


def rolling_back(**fields: object) -> RunRules:
    """Return the rules of a policy that rolls back, with these fields for all stages."""
    rules = {"timeout": TIMEOUT, "action": BudgetAction.ROLL_BACK, **fields}
    return RunRules(default=StageRules.model_validate(rules), fields=[SOURCE])


def only(run: SimulatedRun) -> RollbackPlan:
    """Return what the only rollback of a run does."""
    assert list(run.hub.rollbacks) == ["v2-rollback"]
    return run.hub.rollbacks["v2-rollback"]


def selected(strategy: StrategySpec) -> dict[str, list[str]]:
    """Return the clusters that each stage selects by their names."""
    found = {}
    for each in strategy.stages:
        assert each.label_selector
        (wanted,) = each.label_selector.match_expressions
        assert (wanted.key, wanted.operator) == (MEMBER_NAME, "In")
        found[each.name] = list(wanted.values)
    return found


def two_stages(begin: Begin, **rules: object) -> SimulatedRun:
    """Begin a run whose second stage fails at cluster `b`, with `d` not started."""
    run = begin(
        stage("one", "a", after_stage_tasks=APPROVAL),
        stage("two", "b", "c", "d", max_concurrency=2),
        rules=rolling_back(**rules),
    )
    run.until_handed_out("a")
    run.report("a")
    run.until_asked("v2-after-one")
    run.approve("v2-after-one")
    run.until_handed_out("b", "c")
    return run


def test_the_run_fails_and_another_takes_its_clusters_back(begin: Begin) -> None:
    run = two_stages(begin)
    run.activities.takes["roll_back"] = 1
    outcome = run.outcome()
    assert outcome.reason == "UpdateRunFailed"
    assert outcome.message == (
        "cannot continue the updateRun: 2 of the 3 clusters of stage two failed and its rollout "
        "policy allows 0 (failures.most): b, c; run v2-rollback takes 3 clusters back to "
        "snapshot 0"
    )
    assert Phase.ROLLING_BACK in run.hub.phases
    assert run.activities.handed_out == ["a", "b", "c"]
    plan = only(run)
    assert (plan.index, plan.clusters, plan.stay) == ("0", ["a", "b", "c"], {})
    assert selected(plan.strategy) == {"two": ["b", "c"], "one": ["a"]}
    assert list(selected(plan.strategy)) == ["two", "one"]
    assert not any(each.after_stage_tasks for each in plan.strategy.stages)
    report = run.hub.reports[-1]
    (told,) = [each for each in run.hub.events if each.reason == "RolledBack"]
    assert (told.type, told.message) == (
        "Warning",
        "The update run is rolled back: run v2-rollback takes 3 clusters back to snapshot 0",
    )
    assert run.told[-1] == "Failed"
    assert report.rollback
    assert (report.rollback.run, report.rollback.cause) == (
        "v2-rollback",
        "Failures",
    )


def test_the_policy_says_how_the_rollback_goes(begin: Begin) -> None:
    fields = {"order": RollbackOrder.SAME, "gates": RollbackGates.KEEP, "max_concurrency": "25%"}
    run = two_stages(begin, **fields)
    run.outcome()
    first, second = only(run).strategy.stages
    assert (first.name, second.name) == ("one", "two")
    assert first.after_stage_tasks
    assert first.max_concurrency == second.max_concurrency == "25%"


def test_clusters_with_another_earlier_version_or_none_stay(begin: Begin) -> None:
    run = begin(stage("one", *many(6), max_concurrency=6), rules=rolling_back())
    run.hub.had |= {"member-0000": "", "member-0001": "3", "member-0002": "0"}
    run.outcome()
    plan = only(run)
    assert plan.index == "0"
    assert plan.stay == {"member-0000": "", "member-0001": "3"}
    stay = {
        each.name: (each.message, each.previous_index)
        for each in run.hub.reports[-1].clusters
        if each.outcome is ClusterOutcome.NOT_ROLLED_BACK
    }
    assert stay == {
        "member-0000": (
            "The cluster had nothing earlier to go back to, so the rollback leaves it as it is",
            "",
        ),
        "member-0001": (
            "The cluster had snapshot 3 before the run, so the rollback leaves it as it is",
            "3",
        ),
    }


def test_a_first_rollout_pauses_instead(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), rules=rolling_back())
    run.hub.had = dict.fromkeys(run.hub.had, "")
    run.until_phase(Phase.PAUSED)
    assert run.progressing.message.endswith(
        "; it was not rolled back because no cluster had an earlier version that still exists"
    )
    run.wait(86_400)
    assert run.activities.handed_out == ["a"]
    assert not run.hub.rollbacks
    run.decide(Decision.CONTINUE)
    run.until_handed_out("b")
    run.report("b")
    assert run.outcome().reason == "UpdateRunSucceeded"


def test_clusters_in_flight_finish_first(begin: Begin) -> None:
    run = begin(stage("one", "a", "b", max_concurrency=2), rules=rolling_back(retries=0))
    run.until_handed_out("a", "b")
    run.hub.had["b"] = "0"
    run.wait(19 * 60)
    run.report("b")
    run.outcome()
    assert run.updated == ["b"]
    assert only(run).clusters == ["a", "b"]


def test_a_stop_comes_first(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), rules=rolling_back())
    run.until_handed_out("a")
    run.stop()
    run.until_phase(Phase.STOPPED)
    run.wait(86_400)
    assert not run.hub.rollbacks
    run.resume()
    assert run.outcome().reason == "UpdateRunFailed"
    assert only(run).clusters == ["a"]


def test_the_rollback_is_asked_for_until_the_hub_answers(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), rules=rolling_back())
    run.activities.fail("roll_back", attempts=5)
    assert run.outcome().reason == "UpdateRunFailed"
    assert only(run).clusters == ["a"]


@pytest.mark.parametrize("seconds", [0.01, 0.03, 0.05, 0.07, 0.1, 0.2])
def test_a_lost_temporal_makes_no_second_rollback(begin: Begin, seconds: float) -> None:
    """Lost after each step between the time-out and the end of the run."""
    run = two_stages(begin)
    run.activities.takes["roll_back"] = 0.05
    run.until(lambda: bool(run.hub.phases[-1:] == [Phase.RUNNING]), "the run is under way")
    due = run.timeline.now + TIMEOUT
    run.until(lambda: run.timeline.now >= due - timedelta(seconds=1), "the time limit is near")
    run.until(lambda: b_has_failed(run), "the status says that a cluster failed")
    run.wait(seconds)
    run.lose_temporal()
    assert run.outcome().reason == "UpdateRunFailed"
    assert only(run).clusters == ["a", "b", "c"]
    assert run.activities.handed_out == ["a", "b", "c"]


def b_has_failed(run: SimulatedRun) -> bool:
    """Return whether the status says that cluster `b` has timed out."""
    entry = run.stage(1).clusters[0]
    return any(each.reason == "ClusterUpdatingTimedOut" for each in entry.conditions)


def test_a_rollback_under_way_cannot_be_continued(begin: Begin) -> None:
    run = begin(stage("one", "a", "b"), rules=rolling_back())
    run.activities.takes["roll_back"] = 20
    run.until_phase(Phase.ROLLING_BACK)
    name = run.decide(Decision.CONTINUE)
    assert run.hub.answers[name].state is DecisionState.REFUSED
    assert run.outcome().reason == "UpdateRunFailed"


def test_a_rollback_does_not_list_the_clusters_that_it_was_not_made_for(begin: Begin) -> None:
    rules = rolling_back_rules.rules_for("v1", RunRules(removed=OnRemoved.SKIP, fields=[REMOVED]))
    run = begin(
        stage("one", "a", "b"), stage("none", "x"), rules=rules, takes=10, without=("none",)
    )
    assert run.outcome().message == "All stages are completed successfully"
    report = run.hub.reports[-1]
    assert report.clusters == []
    assert report.rollback
    assert report.rollback.of == "v1"
