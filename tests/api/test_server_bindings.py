"""Bindings and snapshots on a real API server (contract: placement 4 to 6)."""

from typing import Any

import pytest

from api.kinds import Scope
from hub import Hub
from tests.api.conftest import Make
from tests.api.samples import dry_create, refusal, report, sample
from tests.support.conditions import AT

DECISION = {"clusterName": "member1", "selected": True, "reason": "picked"}
BINDING = {
    "state": "Scheduled",
    "resourceSnapshotName": "",
    "schedulingPolicySnapshotName": "p-0",
    "targetCluster": "member1",
    "clusterDecision": DECISION,
}
CONFIG_MAP = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "c"},
    "data": {"key": "value"},
}


@pytest.mark.parametrize("field", BINDING)
async def test_a_binding_must_be_complete(hub: Hub, scope: Scope, field: str) -> None:
    spec = {name: value for name, value in BINDING.items() if name != field}
    text = await refusal(dry_create(hub, scope.binding, spec))
    assert f"spec.{field}: Required value" in text


async def test_a_binding_without_an_apply_strategy_gets_none(hub: Hub, scope: Scope) -> None:
    assert (await dry_create(hub, scope.binding, BINDING))["spec"] == BINDING


async def test_writing_a_bindings_status_keeps_its_generation(
    hub: Hub, scope: Scope, make: Make, unique: str
) -> None:
    await make(scope.binding, sample(scope.binding, unique, BINDING))
    failed = {"version": "v1", "kind": "ConfigMap", "name": "c", "envelope": {"name": "e"}}
    drifted = failed | {
        "observationTime": AT,
        "firstDriftedObservedTime": AT,
        "targetClusterObservedGeneration": 0,
    }
    stored = await report(hub, scope.binding, unique, {"driftedPlacements": [drifted]})
    assert stored["metadata"]["generation"] == 1
    assert stored["status"]["driftedPlacements"][0]["envelope"]["type"] == "ConfigMap"


async def test_at_most_100_failed_objects_are_listed(
    hub: Hub, scope: Scope, make: Make, unique: str
) -> None:
    await make(scope.binding, sample(scope.binding, unique, BINDING))
    diffed = {
        "version": "v1",
        "kind": "ConfigMap",
        "name": "c",
        "observationTime": AT,
        "firstDiffedObservedTime": AT,
    }
    text = await refusal(report(hub, scope.binding, unique, {"diffedPlacements": [diffed] * 101}))
    assert "status.diffedPlacements: Too many: 101: must have at most 100 items" in text


async def test_a_resource_snapshot_keeps_objects_whole(hub: Hub, scope: Scope) -> None:
    spec = {"selectedResources": [CONFIG_MAP]}
    assert (await dry_create(hub, scope.resource_snapshot, spec))["spec"] == spec


@pytest.mark.parametrize("field", ["apiVersion", "kind"])
async def test_a_snapshot_holds_only_objects(hub: Hub, scope: Scope, field: str) -> None:
    flawed = {name: value for name, value in CONFIG_MAP.items() if name != field}
    text = await refusal(dry_create(hub, scope.resource_snapshot, {"selectedResources": [flawed]}))
    assert f"spec.selectedResources[0].{field}: Required value" in text


async def test_a_resource_snapshot_may_be_empty(hub: Hub, scope: Scope) -> None:
    spec: dict[str, Any] = {"selectedResources": []}
    assert (await dry_create(hub, scope.resource_snapshot, spec))["spec"] == spec


async def test_a_policy_hash_is_base64(hub: Hub, scope: Scope) -> None:
    await dry_create(hub, scope.policy_snapshot, {"policyHash": "YWJj"})
    text = await refusal(dry_create(hub, scope.policy_snapshot, {"policyHash": "a!"}))
    assert "policyHash" in text


async def test_a_policy_snapshots_status_requires_the_generation(
    hub: Hub, scope: Scope, make: Make, unique: str
) -> None:
    kind = scope.policy_snapshot
    await make(kind, sample(kind, unique, {"policyHash": "YWJj"}))
    status: dict[str, Any] = {"targetClusters": [DECISION]}
    text = await refusal(report(hub, kind, unique, status))
    assert "status.observedCRPGeneration: Required value" in text
    await report(hub, kind, unique, status | {"observedCRPGeneration": 1})
