"""Rollout policies and decisions on a real API server (policies: 2.1, 2.3)."""

from typing import Any

import pytest

from api.kinds import CLUSTER_SCOPE, Kind, Scope
from hub import Hub, Json
from tests.api.conftest import Make
from tests.api.samples import change, dry_create, refusal, sample


def target(kind: Kind, **changed: Any) -> Json:
    return {"kind": kind.kind, "name": "x"} | changed


async def policy(hub: Hub, scope: Scope, **fields: Any) -> Json:
    """Let the API server validate a policy for a strategy, with a time limit unless changed."""
    spec = {"targetRefs": [target(scope.strategy)], "clusters": {"timeout": "20m"}} | fields
    stored = await dry_create(hub, scope.policy, spec)
    found: Json = stored["spec"]
    return found


async def test_a_policy_with_every_field_is_accepted(hub: Hub, scope: Scope) -> None:
    fields = {
        "targetRefs": [target(scope.strategy), target(scope.placement)],
        "concurrentRuns": "Queue",
        "membership": {"unassigned": "Ignore", "unassignedMost": "10%", "removed": "Skip"},
        "clusters": {"timeout": "1h30m", "retries": 2, "retryAfter": "1m"},
        "failures": {"most": "5%", "mostInRun": 10, "action": "RollBack"},
        "rollback": {"order": "Reverse", "maxConcurrency": "25%", "gates": "Skip"},
    }
    assert await policy(hub, scope, **fields) == fields


@pytest.mark.parametrize("most", [0, 3, 1000, "0%", "1%", "33%", "100%"])
async def test_a_budget_is_a_number_or_a_percentage(
    hub: Hub, scope: Scope, most: int | str
) -> None:
    assert (await policy(hub, scope, failures={"most": most}))["failures"] == {"most": most}


@pytest.mark.parametrize("most", [-1, "101%", "5", "-1%", "1.5%", "%", ""])
async def test_other_budgets_are_refused(hub: Hub, scope: Scope, most: int | str) -> None:
    text = await refusal(policy(hub, scope, failures={"most": most}))
    assert "most must be a number of clusters such as 3, or a percentage from 0% to 100%" in text


@pytest.mark.parametrize("limit", ["0s", "0h0m0s"])
async def test_no_time_at_all_is_refused(hub: Hub, scope: Scope, limit: str) -> None:
    text = await refusal(policy(hub, scope, clusters={"timeout": limit}))
    assert "timeout must be longer than 0s, such as 30s or 20m" in text


@pytest.mark.parametrize("limit", ["20", "1d", "-5m", "", "5 m"])
async def test_other_durations_are_refused(hub: Hub, scope: Scope, limit: str) -> None:
    assert "spec.clusters.timeout" in await refusal(policy(hub, scope, clusters={"timeout": limit}))


async def test_a_target_has_either_a_name_or_a_selector(hub: Hub, scope: Scope) -> None:
    both = target(scope.strategy, selector={"matchLabels": {"a": "b"}})
    neither = {"kind": scope.strategy.kind}
    for refs in ([both], [neither]):
        text = await refusal(policy(hub, scope, targetRefs=refs))
        assert "each of targetRefs needs either a name or a selector" in text


async def test_a_policy_applies_to_its_own_scope_only(hub: Hub, scope: Scope) -> None:
    other = target(scope.run)
    text = await refusal(policy(hub, scope, targetRefs=[other]))
    wanted = f"{scope.strategy.kind} or {scope.placement.kind}"
    assert f"spec.targetRefs[].kind must be {wanted}" in text


async def test_rules_of_the_run_cannot_name_stages(hub: Hub, scope: Scope) -> None:
    refs = [target(scope.strategy, stages=["prod"])]
    text = await refusal(policy(hub, scope, targetRefs=refs, concurrentRuns="Queue"))
    assert "put them in a policy of their own" in text


async def test_a_policy_without_a_rule_is_refused(hub: Hub, scope: Scope) -> None:
    spec = {"targetRefs": [target(scope.strategy)]}
    text = await refusal(dry_create(hub, scope.policy, spec))
    assert "the policy has no rule" in text


# -- decisions -----------------------------------------------------------------------------


def decision(**changed: Any) -> Json:
    return {"run": "v2", "decision": "Continue", "reason": "INC-7"} | changed


@pytest.mark.parametrize(
    "spec",
    [
        decision(),
        decision(decision="SkipCluster", cluster="member1"),
        decision(decision="RetryCluster", cluster="member1", runUID="u-1"),
    ],
    ids=lambda spec: spec["decision"],
)
async def test_a_decision_is_accepted(hub: Hub, scope: Scope, spec: Json) -> None:
    assert (await dry_create(hub, scope.decision, spec))["spec"] == spec


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (decision(reason=""), "reason is required"),
        (decision(cluster="member1"), "cluster is required for SkipCluster and RetryCluster"),
        (decision(decision="SkipCluster"), "cluster is required for SkipCluster and RetryCluster"),
        (decision(decision="Approve"), "Approve and Reject are not supported yet"),
        (decision(decision="Reject"), "Approve and Reject are not supported yet"),
        (decision(stage="prod"), "stage and gate are only allowed for Approve and Reject"),
        (decision(reason="x" * 4097), "Too long"),
        (decision(decision="Skip"), "Unsupported value"),
    ],
)
async def test_other_decisions_are_refused(hub: Hub, scope: Scope, spec: Json, text: str) -> None:
    assert text in await refusal(dry_create(hub, scope.decision, spec))


async def test_a_decision_cannot_be_changed(
    hub: Hub, scope: Scope, make: Make, unique: str
) -> None:
    kind = scope.decision
    await make(kind, sample(kind, unique, decision()))
    text = await refusal(change(hub, kind, unique, {"spec": {"reason": "another"}}))
    assert "a decision cannot be changed: create another one" in text


async def test_a_report_is_written_by_its_status_alone(hub: Hub, make: Make, unique: str) -> None:
    kind = CLUSTER_SCOPE.report
    body = sample(kind, unique, {}) | {"status": {"failed": 3}}
    body.pop("spec")
    stored = await make(kind, body)
    assert "status" not in stored
