"""Events and metric labels about the progress of a placement (contract: placement 7.6)."""

from typing import Any

import pytest

from api.kinds import CLUSTER_SCOPE, Scope
from api.placements import PlacementStatus
from planning.placements.placement_progress import happened, labels
from tests.planning.placements.statuses import NOW, SCOPES, condition, placement

Json = dict[str, Any]
CHAIN = ["RolloutStarted", "Overridden", "WorkSynchronized", "Applied", "Available"]
REPORTING = [*CHAIN[:3], "DiffReported"]
TOLD = {
    "RolloutStarted": "PlacementRolloutStarted",
    "Overridden": "PlacementOverriddenSucceeded",
    "WorkSynchronized": "PlacementWorkSynchronized",
    "Applied": "PlacementApplied",
    "Available": "PlacementAvailable",
    "DiffReported": "PlacementDiffReported",
}
COMPLETED = "PlacementRolloutCompleted"


def says(*kinds: str, scope: Scope = CLUSTER_SCOPE, state: str = "True", of: int = 4) -> Json:
    """Return a status in which these conditions hold; the placement's generation is 4."""
    names = [f"{scope.placement.kind}{kind}" for kind in kinds]
    return {"conditions": [condition(name, state, of) for name in names]}


def told(before: Json, after: Json, *, scope: Scope = CLUSTER_SCOPE, **kind: str) -> list[str]:
    events = happened(
        placement(before=before, **kind), PlacementStatus.from_wire(after), scope=scope, now=NOW
    )
    assert {each.type.value for each in events} <= {"Normal"}
    assert [each.at for each in events] == sorted({each.at for each in events})
    return [each.reason for each in events]


@SCOPES
def test_each_completed_step_gives_an_event(scope: Scope) -> None:
    before = says("Scheduled", "RolloutStarted", scope=scope)
    after = says("Scheduled", "RolloutStarted", "Overridden", "WorkSynchronized", scope=scope)
    assert told(before, after, scope=scope) == [TOLD["Overridden"], TOLD["WorkSynchronized"]]


@SCOPES
@pytest.mark.parametrize(
    ("apply", "chain"), [("ClientSideApply", CHAIN), ("ReportDiff", REPORTING)]
)
def test_the_end_of_the_chain_completes_the_rollout(
    scope: Scope, apply: str, chain: list[str]
) -> None:
    after = says("Scheduled", *chain, scope=scope)
    wanted = [*(TOLD[kind] for kind in chain), COMPLETED]
    assert told({}, after, scope=scope, apply=apply) == wanted
    assert told(after, after, scope=scope, apply=apply) == []


def test_a_rollout_is_not_complete_without_all_clusters() -> None:
    assert COMPLETED not in told({}, says(*CHAIN))


def test_conditions_of_an_older_generation_give_events_again() -> None:
    whole = ("Scheduled", *CHAIN)
    assert told(says(*whole, of=3), says(*whole))[-1] == COMPLETED


@pytest.mark.parametrize("state", ["False", "Unknown"])
def test_a_condition_that_is_not_true_gives_no_event(state: str) -> None:
    assert told({}, says(*CHAIN, state=state)) == []


# -- metric labels ------------------------------------------------------------------------

WHOLE = ("Scheduled", *CHAIN)


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
    [("ClientSideApply", WHOLE), ("ReportDiff", (*WHOLE[:4], "DiffReported"))],
)
def test_a_placement_with_all_conditions_is_completed(apply: str, chain: tuple[str, ...]) -> None:
    completed = {"conditionType": "Completed", "status": "True", "reason": "Completed"}
    assert said(*chain, apply=apply) == {"generation": "4"} | completed
