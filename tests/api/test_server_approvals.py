"""Approval requests on a real API server (contract: update-runs 4)."""

from typing import Any

import pytest

from api.kinds import Scope
from hub import Hub
from tests.api.conftest import Make
from tests.api.samples import change, dry_create, refusal, report, sample
from tests.support.conditions import condition

SPEC = {"parentStageRollout": "run", "targetStage": "canary"}


@pytest.mark.parametrize("field", SPEC)
async def test_the_gate_of_an_approval_request_cannot_be_changed(
    hub: Hub, scope: Scope, make: Make, unique: str, field: str
) -> None:
    await make(scope.approval, sample(scope.approval, unique, SPEC))
    text = await refusal(change(hub, scope.approval, unique, {"spec": {field: "other"}}))
    assert "The spec field is immutable" in text


@pytest.mark.parametrize("field", SPEC)
async def test_run_and_stage_must_be_named(hub: Hub, scope: Scope, field: str) -> None:
    spec = {name: value for name, value in SPEC.items() if name != field}
    text = await refusal(dry_create(hub, scope.approval, spec))
    assert f"spec.{field}: Required value" in text


async def test_a_person_approves_in_the_status(
    hub: Hub, scope: Scope, make: Make, unique: str
) -> None:
    await make(scope.approval, sample(scope.approval, unique, SPEC))
    approved = condition("Approved", reason="lgtm", message="lgtm")
    stored = await report(hub, scope.approval, unique, {"conditions": [approved]})
    assert stored["status"]["conditions"] == [approved]
    assert stored["metadata"]["generation"] == 1


async def test_an_approval_without_a_time_is_refused(
    hub: Hub, scope: Scope, make: Make, unique: str
) -> None:
    await make(scope.approval, sample(scope.approval, unique, SPEC))
    approved: dict[str, Any] = condition("Approved")
    del approved["lastTransitionTime"]
    text = await refusal(report(hub, scope.approval, unique, {"conditions": [approved]}))
    assert "lastTransitionTime: Required value" in text
