"""Policies are combined field by field, and contradictions are refused (policies: 2.1)."""

from datetime import timedelta
from typing import Any

import pytest

from api.base import ObjectMeta
from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Scope
from api.rollout_policies import (
    BaseRolloutPolicy,
    BudgetAction,
    ClusterRolloutPolicy,
    ConcurrentRuns,
    OnUnassigned,
    RolloutPolicy,
)
from planning.errors import InitializationError
from planning.policies.resolving import PolicySubject, recorded, resolve
from planning.runs.rules import RunRules, StageRules

Json = dict[str, Any]
STRATEGY: Json = {"kind": "ClusterStagedUpdateStrategy", "name": "prod-strategy"}
PLACEMENT: Json = {"kind": "ClusterResourcePlacement", "name": "web"}


def policy(name: str, *refs: Json, generation: int = 1, **fields: Any) -> BaseRolloutPolicy:
    targets = list(refs) or [STRATEGY]
    return ClusterRolloutPolicy.from_wire(
        {
            "metadata": {"name": name, "generation": generation},
            "spec": {"targetRefs": targets} | fields,
        }
    )


def subject(*stages: str, scope: Scope = CLUSTER_SCOPE, **labels: str) -> PolicySubject:
    return PolicySubject(
        scope=scope,
        strategy=ObjectMeta(name="prod-strategy", labels=labels),
        placement=ObjectMeta(name="web", labels=labels),
        stages=stages or ("canary", "prod"),
    )


def refused(*policies: BaseRolloutPolicy) -> str:
    with pytest.raises(InitializationError) as error:
        resolve(policies, subject())
    text = str(error.value)
    assert text.startswith("cannot continue the updateRun: failed to validate the updateRun: ")
    return text


def test_without_a_policy_the_rules_are_those_of_kubefleet() -> None:
    rules = resolve([], subject())
    assert rules == RunRules()
    assert rules.of_stage("prod") == StageRules()


def test_a_policy_of_another_strategy_or_placement_does_not_apply() -> None:
    others = [
        policy("a", STRATEGY | {"name": "other"}, concurrentRuns="Queue"),
        policy("b", PLACEMENT | {"name": "other"}, concurrentRuns="Refuse"),
    ]
    assert resolve(others, subject()) == RunRules()


@pytest.mark.parametrize("target", [STRATEGY, PLACEMENT])
def test_a_policy_applies_by_name_to_a_strategy_or_placement(target: Json) -> None:
    rules = resolve([policy("a", target, concurrentRuns="Queue")], subject())
    assert rules.concurrent_runs is ConcurrentRuns.QUEUE


def test_a_policy_applies_by_labels() -> None:
    selecting = policy(
        "a",
        {"kind": "ClusterResourcePlacement", "selector": {"matchLabels": {"tier": "gold"}}},
        concurrentRuns="Queue",
    )
    assert resolve([selecting], subject()).concurrent_runs is ConcurrentRuns.ALLOW
    assert resolve([selecting], subject(tier="gold")).concurrent_runs is ConcurrentRuns.QUEUE


def test_a_namespaced_policy_applies_to_its_own_kinds() -> None:
    target = {"kind": "StagedUpdateStrategy", "name": "prod-strategy"}
    body = {
        "metadata": {"name": "a", "generation": 1},
        "spec": {"targetRefs": [target], "concurrentRuns": "Queue"},
    }
    found = resolve([RolloutPolicy.from_wire(body)], subject(scope=NAMESPACED_SCOPE))
    assert found.concurrent_runs is ConcurrentRuns.QUEUE


def test_fields_are_combined_one_by_one() -> None:
    rules = resolve(
        [
            policy("a", PLACEMENT, clusters={"timeout": "20m"}, failures={"action": "Abort"}),
            policy("b", STRATEGY, failures={"most": "5%", "mostInRun": 10}),
            policy("c", PLACEMENT, membership={"unassigned": "Ignore", "unassignedMost": 2}),
        ],
        subject("prod"),
    )
    assert rules.unassigned is OnUnassigned.IGNORE
    assert (rules.unassigned_most, rules.most_in_run) == (2, 10)
    assert rules.of_stage("prod") == StageRules(
        timeout=timedelta(minutes=20), most="5%", action=BudgetAction.ABORT
    )


def test_the_strategys_policy_wins_over_the_placements() -> None:
    rules = resolve(
        [
            policy("a", PLACEMENT, clusters={"timeout": "1m", "retries": 2}),
            policy("b", STRATEGY, clusters={"timeout": "2m"}),
        ],
        subject("prod"),
    )
    assert rules.of_stage("prod") == StageRules(timeout=timedelta(minutes=2), retries=2)


def test_a_policy_that_names_the_stage_wins_over_all_others() -> None:
    rules = resolve(
        [
            policy("a", STRATEGY, clusters={"timeout": "1m"}),
            policy("b", PLACEMENT | {"stages": ["prod"]}, clusters={"timeout": "5m"}),
        ],
        subject(),
    )
    assert rules.of_stage("canary").timeout == timedelta(minutes=1)
    assert rules.of_stage("prod").timeout == timedelta(minutes=5)


def test_the_most_specific_of_a_policys_own_targets_counts() -> None:
    rules = resolve(
        [
            policy("a", STRATEGY, clusters={"timeout": "1m"}),
            policy("b", PLACEMENT, STRATEGY | {"stages": ["prod"]}, clusters={"timeout": "5m"}),
        ],
        subject(),
    )
    assert rules.of_stage("prod").timeout == timedelta(minutes=5)
    assert rules.of_stage("canary").timeout == timedelta(minutes=1)


def test_equal_values_of_equal_rank_do_not_contradict_each_other() -> None:
    rules = resolve(
        [policy("b", concurrentRuns="Queue"), policy("a", concurrentRuns="Queue")], subject()
    )
    assert rules.concurrent_runs is ConcurrentRuns.QUEUE
    assert [each.policy for each in rules.fields] == ["a"]


def test_different_values_of_equal_rank_are_refused_with_both_names() -> None:
    text = refused(
        policy("b", failures={"most": 2}),
        policy("a", failures={"most": "5%"}),
    )
    assert text.endswith(
        "rollout policies `a` and `b` contradict each other: failures.most is "
        "5% in the one and 2 in the other"
    )


def test_a_stage_that_the_strategy_does_not_have_is_refused() -> None:
    text = refused(policy("a", STRATEGY | {"stages": ["prd"]}, clusters={"timeout": "1m"}))
    assert text.endswith(
        "rollout policy `a` names stage `prd`, which strategy `prod-strategy` does not have; its "
        "stages are canary, prod"
    )


def test_a_policy_of_a_placement_may_name_stages_of_other_strategies() -> None:
    elsewhere = policy("a", PLACEMENT | {"stages": ["prd"]}, clusters={"timeout": "1m"})
    assert resolve([elsewhere], subject()).stages == {}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"clusters": {"retries": 1}},
            ("sets clusters.retries, which has no effect without clusters.timeout: set that too"),
        ),
        (
            {"clusters": {"timeout": "1m", "retryAfter": "5s"}},
            (
                "sets clusters.retryAfter, which has no effect without "
                "clusters.retries: set that too"
            ),
        ),
        (
            {"membership": {"unassignedMost": 1}},
            (
                "sets membership.unassignedMost, which has no effect unless "
                "membership.unassigned is Ignore"
            ),
        ),
    ],
)
def test_a_field_that_would_have_no_effect_is_refused(fields: Json, text: str) -> None:
    assert refused(policy("a", **fields)).endswith(f"rollout policy `a` {text}")


def test_a_field_may_be_completed_by_another_policy() -> None:
    rules = resolve(
        [
            policy("a", PLACEMENT, clusters={"timeout": "1m"}),
            policy("b", STRATEGY, clusters={"retries": 3}),
        ],
        subject("prod"),
    )
    assert rules.of_stage("prod") == StageRules(timeout=timedelta(minutes=1), retries=3)


def test_an_invalid_selector_is_refused() -> None:
    selector = {"matchExpressions": [{"key": "tier", "operator": "Is"}]}
    text = refused(
        policy(
            "a", {"kind": "ClusterResourcePlacement", "selector": selector}, concurrentRuns="Queue"
        )
    )
    assert 'invalid selector in targetRefs: "Is" is not a valid label selector operator' in text


def test_sources_name_policy_and_generation_and_say_once_what_all_stages_share() -> None:
    rules = resolve(
        [
            policy("a", generation=7, clusters={"timeout": "1m"}),
            policy("b", STRATEGY | {"stages": ["prod"]}, failures={"most": 3}),
        ],
        subject("canary", "staging", "prod"),
    )
    assert [
        (each.name, each.stage, each.value, each.policy, each.generation) for each in rules.fields
    ] == [("clusters.timeout", "", "1m", "a", 7), ("failures.most", "prod", 3, "b", 1)]


def test_rules_can_be_restored_from_what_a_report_has_recorded() -> None:
    rules = resolve(
        [
            policy("a", clusters={"timeout": "1m", "retries": 2, "retryAfter": "10s"}),
            policy("b", STRATEGY | {"stages": ["prod"]}, failures={"most": "10%"}),
            policy("c", PLACEMENT, concurrentRuns="Queue", failures={"mostInRun": 4}),
        ],
        subject("canary", "prod"),
    )
    assert recorded(rules.fields) == rules
