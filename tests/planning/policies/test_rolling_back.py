"""Which clusters a rollback takes back, to what, in which stages, and by which rules."""

import pytest

from api.names import MEMBER_NAME
from api.rollout_policies import (
    BudgetAction,
    ConcurrentRuns,
    OnUnassigned,
    RollbackGates,
    RollbackOrder,
)
from api.rollout_reports import PolicyField
from api.runs import ClusterStatus, StageStatus, UpdateRunStatus
from api.strategies import Stage, StageTask, StageTaskType, StrategySpec
from planning.policies import resolving, rolling_back
from planning.policies.rolling_back import RollbackPlan
from planning.runs.rules import RunRules, StageRules

STAGES = {"dev": ["a", "b"], "prod": ["c", "d"], "last": ["e"]}
APPROVAL = StageTask(type=StageTaskType.APPROVAL)
STATUS = UpdateRunStatus(
    staged_update_strategy_snapshot=StrategySpec(
        stages=[
            Stage(
                name=name,
                max_concurrency="50%",
                sorting_label_key="order",
                before_stage_tasks=[APPROVAL],
            )
            for name in STAGES
        ]
    ),
    stages_status=[
        StageStatus(stage_name=name, clusters=[ClusterStatus(cluster_name=each) for each in names])
        for name, names in STAGES.items()
    ],
)


def planned(before: dict[str, str], **rules: object) -> RollbackPlan:
    """Return the plan of a rollback after a failure in stage prod."""
    of_prod = StageRules.model_validate(rules)
    found = rolling_back.plan(
        STATUS, RunRules(stages={"prod": of_prod}), stage="prod", before=before
    )
    assert found is not None
    return found


def members(found: RollbackPlan) -> dict[str, list[str]]:
    """Return the clusters that each stage selects by name."""
    selected = {}
    for stage in found.strategy.stages:
        assert stage.label_selector is not None
        (wanted,) = stage.label_selector.match_expressions
        assert (wanted.key, wanted.operator) == (MEMBER_NAME, "In")
        selected[stage.name] = list(wanted.values)
    return selected


def test_stages_go_in_reverse_and_without_those_that_have_no_cluster() -> None:
    found = planned({"a": "0", "c": "0", "d": "0"})
    assert list(members(found).items()) == [("prod", ["c", "d"]), ("dev", ["a"])]
    assert found.clusters == ["a", "c", "d"]


def test_the_stage_in_which_it_failed_decides_about_the_order() -> None:
    found = planned({"a": "0", "c": "0"}, order=RollbackOrder.SAME)
    assert list(members(found)) == ["dev", "prod"]


@pytest.mark.parametrize(
    ("before", "index", "stay"),
    [
        ({"a": "1", "b": "2", "c": "2"}, "2", {"a": "1"}),
        ({"a": "9", "b": "10"}, "10", {"a": "9"}),
        ({"a": "", "b": "", "c": "3"}, "3", {"a": "", "b": ""}),
    ],
    ids=["most", "a tie", "most had none"],
)
def test_the_version_that_most_had_is_restored_the_newer_one_with_a_tie(
    before: dict[str, str], index: str, stay: dict[str, str]
) -> None:
    found = planned(before)
    assert (found.index, found.stay) == (index, stay)


@pytest.mark.parametrize("before", [{}, {"a": ""}])
def test_without_an_earlier_version_there_is_no_rollback(before: dict[str, str]) -> None:
    assert rolling_back.plan(STATUS, RunRules(), stage="prod", before=before) is None


def test_the_policy_decides_about_gates_and_concurrency_of_each_stage() -> None:
    found = planned(
        {"a": "0", "c": "0"}, gates=RollbackGates.KEEP, max_concurrency=3
    ).strategy.stages
    prod, dev = found
    assert (prod.before_stage_tasks, prod.max_concurrency) == ([APPROVAL], 3)
    assert (dev.before_stage_tasks, dev.max_concurrency) == ([], "50%")
    assert prod.sorting_label_key == dev.sorting_label_key == "order"


def test_names_stay_within_the_limit_and_end_well() -> None:
    first, second, *_ = rolling_back.names_for("v2")
    assert (first, second) == ("v2-rollback", "v2-rollback-2")
    cut, *_ = rolling_back.names_for("x" * 53 + "-" + "y" * 9)
    assert cut == "x" * 53 + "-rollback"
    assert all(len(each) <= 63 for each in rolling_back.names_for("z" * 63))


def test_a_rollback_follows_the_rules_of_the_run_but_is_not_rolled_back_itself() -> None:
    def field(name: str, value: object, stage: str = "") -> PolicyField:
        return PolicyField(name=name, value=value, stage=stage, policy="guard", generation=2)

    of_run = resolving.recorded(
        [
            field("concurrentRuns", "Refuse"),
            field("membership.unassigned", "Ignore"),
            field("membership.unassignedMost", "10%"),
            field("clusters.timeout", "20m"),
            field("failures.most", 1, "prod"),
            field("failures.action", "RollBack", "prod"),
            field("failures.action", "Abort"),
        ]
    )
    rules = rolling_back.rules_for("v2", of_run)
    assert rules.rolls_back == "v2"
    assert rules.concurrent_runs is ConcurrentRuns.QUEUE
    assert rules.unassigned is OnUnassigned.IGNORE
    assert rules.unassigned_most == "100%"
    assert rules.of_stage("prod").action is BudgetAction.PAUSE
    assert rules.of_stage("dev").action is BudgetAction.ABORT
    assert rules.of_stage("prod").timeout == of_run.of_stage("prod").timeout
    assert resolving.recorded(rules.fields, rolls_back="v2") == rules
