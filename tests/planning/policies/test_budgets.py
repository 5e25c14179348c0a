"""Failure budgets count and percentages are rounded down (policies: 2.1, 3)."""

import pytest

from api.reasons import ClusterReason, ConditionType
from api.rollout_policies import BudgetAction
from api.rollout_reports import PolicyField
from api.runs import ClusterStatus, StageStatus, UpdateRunStatus
from planning import conditions
from planning.policies import budgets
from planning.policies.budgets import Exceeded, Failures, exceeded
from planning.runs.rules import RunRules, StageRules, share
from tests.planning.run_samples import NOW

NONE = Failures()


@pytest.mark.parametrize(
    ("value", "of", "clusters"),
    [
        (0, 10, 0),
        (3, 10, 3),
        (30, 10, 30),
        ("0%", 10, 0),
        ("1%", 10, 0),
        ("1%", 100, 1),
        ("5%", 10, 0),
        ("33%", 10, 3),
        ("100%", 10, 10),
        ("100%", 0, 0),
    ],
)
def test_a_share_is_rounded_down(value: int | str, of: int, clusters: int) -> None:
    assert share(value, of=of) == clusters


def failed(of_prod: int, elsewhere: int = 0) -> UpdateRunStatus:
    """Return the status of a run with 10 clusters in its last stage, and 30 in the one before."""
    stages = [("dev", 30, elsewhere), ("prod", 10, of_prod)]
    return UpdateRunStatus(
        stages_status=[
            StageStatus(stage_name=name, clusters=[cluster(each < bad) for each in range(count)])
            for name, count, bad in stages
        ]
    )


def cluster(has_failed: bool) -> ClusterStatus:
    """Return a cluster that has timed out, or one that has not started."""
    ended = conditions.make(
        ConditionType.SUCCEEDED, "False", ClusterReason.TIMED_OUT, "", generation=1, now=NOW
    )
    return ClusterStatus(cluster_name="a", conditions=[ended] if has_failed else [])


def found(
    rules: RunRules, status: UpdateRunStatus, accepted: Failures = NONE
) -> tuple[str, int, int] | None:
    """Return field, failures and limit of the budget that is exceeded in stage prod."""
    over = exceeded(rules, status, stage=1, accepted=accepted)
    return (over.field, over.failed, over.most) if over else None


def rules(most: int | str, most_in_run: int | str | None = None) -> RunRules:
    stage = StageRules(most=most, action=BudgetAction.ABORT)
    return RunRules(stages={"prod": stage}, most_in_run=most_in_run)


def test_no_cluster_may_fail_unless_a_policy_says_so() -> None:
    over = exceeded(RunRules(), failed(1), stage=1, accepted=NONE)
    assert over == Exceeded(
        field="failures.most", policy="", failed=1, clusters=10, most=0, action=BudgetAction.PAUSE
    )


@pytest.mark.parametrize(("most", "allowed"), [(0, 0), (2, 2), ("33%", 3), ("90%", 9), ("1%", 0)])
def test_as_many_as_the_budget_may_fail_and_no_more(most: int | str, allowed: int) -> None:
    assert found(rules(most), failed(allowed)) is None
    assert found(rules(most), failed(allowed + 1)) == ("failures.most", allowed + 1, allowed)


def test_all_may_fail_if_the_budget_says_so() -> None:
    assert found(rules("100%"), failed(10)) is None


def test_the_runs_budget_counts_all_stages() -> None:
    limited = rules("100%", most_in_run="10%")
    assert found(limited, failed(1, elsewhere=3)) is None
    assert found(limited, failed(1, elsewhere=4)) == ("failures.mostInRun", 5, 4)


def test_failures_that_a_person_accepted_exceed_nothing() -> None:
    accepted = Failures(stages={"prod": 2}, in_run=2)
    assert found(rules(1), failed(2), accepted) is None
    assert found(rules(1), failed(3), accepted) == ("failures.most", 3, 1)


def test_failures_accepted_in_one_stage_leave_the_others_as_they_are() -> None:
    accepted = budgets.failed(failed(0, elsewhere=5))
    assert accepted == Failures(stages={"dev": 5}, in_run=5)
    assert found(rules(0), failed(1, elsewhere=5), accepted) == ("failures.most", 1, 0)


def test_failures_that_are_none_any_more_are_no_longer_accepted() -> None:
    accepted = Failures(stages={"dev": 5, "prod": 2}, in_run=7)
    left = accepted.at_most(budgets.failed(failed(1, elsewhere=9)))
    assert left == Failures(stages={"dev": 5, "prod": 1}, in_run=7)


def test_the_policy_that_sets_the_limit_is_named() -> None:
    field = PolicyField(name="failures.most", value=0, policy="prod-guard", generation=1)
    over = exceeded(RunRules(fields=[field]), failed(1), stage=1, accepted=NONE)
    assert over is not None
    assert over.policy == "prod-guard"
