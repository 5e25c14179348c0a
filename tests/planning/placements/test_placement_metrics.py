"""Metric labels from a placement's status (contract: placement 7.6)."""

from typing import Any

import pytest

from api.kinds import CLUSTER_SCOPE, Scope
from planning.placements.placement_metrics import labels
from tests.planning.placements.statuses import SCOPES, condition, placement

Json = dict[str, Any]
CHAIN = ("Scheduled", "RolloutStarted", "Overridden", "WorkSynchronized", "Applied", "Available")


def said(
    *kinds: str, last: str = "True", of: int = 4, scope: Scope = CLUSTER_SCOPE, **how: str
) -> dict[str, str]:
    """Return the labels while these conditions hold, the last with another status."""
    states = ["True"] * (len(kinds) - 1) + [last]
    conditions = [
        condition(f"{scope.placement.kind}{kind}", state, of)
        for kind, state in zip(kinds, states, strict=True)
    ]
    return labels(placement(before={"conditions": conditions}, **how), scope=scope)


@SCOPES
def test_the_first_condition_that_is_not_true_gives_the_labels(scope: Scope) -> None:
    kind = scope.placement.kind
    assert said("Scheduled", "RolloutStarted", last="Unknown", scope=scope) == {
        "generation": "4",
        "conditionType": f"{kind}RolloutStarted",
        "status": "Unknown",
        "reason": "Test",
    }


@pytest.mark.parametrize("of", [3, 4])
def test_a_missing_condition_is_nil(of: int) -> None:
    found = said("Scheduled", of=of)
    missing = "RolloutStarted" if of == 4 else "Scheduled"
    assert found["conditionType"] == f"ClusterResourcePlacement{missing}"
    assert (found["status"], found["reason"]) == ("nil", "nil")


@pytest.mark.parametrize(
    ("apply", "chain"),
    [("ClientSideApply", CHAIN), ("ReportDiff", (*CHAIN[:4], "DiffReported"))],
)
def test_a_placement_with_all_conditions_is_completed(apply: str, chain: tuple[str, ...]) -> None:
    completed = {"conditionType": "Completed", "status": "True", "reason": "Completed"}
    assert said(*chain, apply=apply) == {"generation": "4"} | completed
