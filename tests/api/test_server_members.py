"""Works, AppliedWorks and member clusters on a real API server (contract: placement 8, 11)."""

from typing import Any

import pytest

from api.kinds import APPLIED_WORK, MEMBER_CLUSTER, WORK
from hub import Hub
from tests.api.conftest import Make
from tests.api.samples import dry_create, refusal, report, sample
from tests.support.conditions import AT, condition

IDENTITY = {"kind": "User", "name": "member1", "apiGroup": "rbac.authorization.k8s.io"}
MANIFEST = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "s"},
    "stringData": {"a": "b"},
}


async def test_a_work_keeps_its_manifests_whole(hub: Hub) -> None:
    spec = {"workload": {"manifests": [MANIFEST]}, "reportBackStrategy": {"type": "Mirror"}}
    assert (await dry_create(hub, WORK, spec))["spec"] == spec


async def test_an_apply_strategy_gets_its_defaults(hub: Hub) -> None:
    stored = await dry_create(hub, WORK, {"applyStrategy": {"type": "ReportDiff"}})
    assert stored["spec"]["applyStrategy"] == {
        "type": "ReportDiff",
        "comparisonOption": "PartialComparison",
        "whenToApply": "Always",
        "whenToTakeOver": "Always",
    }


async def test_a_works_status_needs_conditions(hub: Hub, make: Make, unique: str) -> None:
    await make(WORK, sample(WORK, unique, {}))
    entry = {"identifier": {"ordinal": 0}, "conditions": [condition("Applied")]}
    text = await refusal(report(hub, WORK, unique, {"manifestConditions": [entry]}))
    assert "status.conditions: Required value" in text
    status = {"conditions": [], "manifestConditions": [entry]}
    assert (await report(hub, WORK, unique, status))["status"] == status


@pytest.mark.parametrize("field", ["workName", "workNamespace"])
async def test_an_applied_work_names_its_work(hub: Hub, field: str) -> None:
    spec = {"workName": "w", "workNamespace": "fleet-member-a"}
    await dry_create(hub, APPLIED_WORK, spec)
    del spec[field]
    assert f"spec.{field}: Required value" in await refusal(dry_create(hub, APPLIED_WORK, spec))


async def test_a_member_sends_a_heartbeat_every_minute_by_default(hub: Hub) -> None:
    spec = {"identity": IDENTITY, "deleteOptions": {}}
    stored = await dry_create(hub, MEMBER_CLUSTER, spec)
    assert stored["spec"] == {
        "identity": IDENTITY,
        "heartbeatPeriodSeconds": 60,
        "deleteOptions": {"validationMode": "Strict"},
    }


FLAWED: list[tuple[dict[str, Any], str]] = [
    ({"identity": None}, "spec.identity: Required value"),
    ({"heartbeatPeriodSeconds": 0}, "greater than or equal to 1"),
    ({"heartbeatPeriodSeconds": 601}, "less than or equal to 600"),
    ({"taints": [{"key": "a", "effect": "NoExecute"}]}, 'supported values: "NoSchedule"'),
    ({"taints": [{"key": "a", "effect": "NoSchedule"}] * 101}, "must have at most 100 items"),
    ({"deleteOptions": {"validationMode": "Ask"}}, 'supported values: "Skip", "Strict"'),
]


@pytest.mark.parametrize(("flaw", "text"), FLAWED)
async def test_invalid_members_are_refused(hub: Hub, flaw: dict[str, Any], text: str) -> None:
    assert text in await refusal(dry_create(hub, MEMBER_CLUSTER, {"identity": IDENTITY} | flaw))


async def test_a_member_name_has_at_most_63_characters(hub: Hub) -> None:
    spec = {"identity": IDENTITY}
    await dry_create(hub, MEMBER_CLUSTER, spec, name="m" * 63)
    text = await refusal(dry_create(hub, MEMBER_CLUSTER, spec, name="m" * 64))
    assert "metadata.name max length is 63" in text


async def test_a_member_reports_amounts_as_quantities(hub: Hub, make: Make, unique: str) -> None:
    await make(MEMBER_CLUSTER, sample(MEMBER_CLUSTER, unique, {"identity": IDENTITY}))
    good = {"capacity": {"cpu": 4, "memory": "16Gi"}, "observationTime": AT}
    stored = await report(hub, MEMBER_CLUSTER, unique, {"resourceUsage": good})
    assert stored["status"]["resourceUsage"] == good
    bad = {"capacity": {"cpu": "many"}}
    text = await refusal(report(hub, MEMBER_CLUSTER, unique, {"resourceUsage": bad}))
    assert "status.resourceUsage.capacity.cpu: Invalid value" in text
