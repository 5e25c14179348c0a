"""Copies of a placement's status in the namespace it places (contract: placement 7.7)."""

from typing import Any

import pytest

from api.base import OwnerReference
from api.placements import ClusterResourcePlacement, Placement, PlacementStatus, ResourcePlacement
from planning.placements import status_copies
from tests.planning.placements.statuses import NOW, condition

Json = dict[str, Any]
OWNER = OwnerReference(api_version="v1", kind="P", name="p", uid="u")
SYNCED = "ClusterResourcePlacementStatusSynced"
NAMESPACE: Json = {"group": "", "version": "v1", "kind": "Namespace", "name": "app"}
ROLE: Json = {"group": "rbac.example.com", "version": "v1", "kind": "ClusterRole", "name": "r"}


def placement(
    *selectors: Json, scope: str = "NamespaceAccessible", conditions: tuple[Json, ...] = ()
) -> Placement:
    return ClusterResourcePlacement.from_wire(
        {
            "metadata": {"name": "p", "generation": 4},
            "spec": {
                "resourceSelectors": list(selectors) or [ROLE, NAMESPACE],
                "statusReportingScope": scope,
            },
            "status": {"conditions": list(conditions)},
        }
    )


def status(*kinds: str) -> PlacementStatus:
    conditions = [condition(kind, "True", 4) for kind in kinds]
    return PlacementStatus.from_wire({"conditions": conditions, "observedResourceIndex": "1"})


@pytest.mark.parametrize(
    ("scope", "wanted"), [("NamespaceAccessible", True), ("ClusterScopeOnly", False)]
)
def test_only_a_placement_that_requests_a_copy_gets_one(scope: str, wanted: bool) -> None:
    assert status_copies.is_wanted(placement(scope=scope)) is wanted


def test_a_namespaced_placement_has_no_copy() -> None:
    spec = {"resourceSelectors": [], "statusReportingScope": "NamespaceAccessible"}
    body = {"metadata": {"name": "p", "namespace": "app"}, "spec": spec}
    assert not status_copies.is_wanted(ResourcePlacement.from_wire(body))


def test_the_copy_goes_where_the_namespace_selector_points() -> None:
    assert status_copies.namespace_of(placement()) == "app"
    by_label = {"group": "", "version": "v1", "kind": "Namespace", "labelSelector": {}}
    assert status_copies.namespace_of(placement(by_label)) == ""


def test_the_copy_has_everything_but_the_condition_about_itself() -> None:
    body = status_copies.body(placement(), status("A", SYNCED), owner=OWNER, now=NOW)
    assert body == {
        "metadata": {
            "name": "p",
            "namespace": "app",
            "ownerReferences": [OWNER.to_wire()],
        },
        "sourceStatus": {
            "conditions": [condition("A", "True", 4)],
            "observedResourceIndex": "1",
        },
        "lastUpdatedTime": "2026-01-02T12:00:00Z",
    }


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            "",
            (
                "True",
                "StatusSyncSucceeded",
                "Successfully created or updated ClusterResourcePlacementStatus in namespace 'app'",
            ),
        ),
        (
            "it is full",
            (
                "False",
                "StatusSyncFailed",
                "Failed to create or update ClusterResourcePlacementStatus: it is full",
            ),
        ),
    ],
)
def test_the_placement_reports_the_result_of_copying(
    error: str, said: tuple[str, str, str]
) -> None:
    found = status_copies.with_outcome(placement(), status("A"), error, now=NOW).conditions
    assert [each.type for each in found] == ["A", SYNCED]
    synced = found[1]
    assert (synced.status, synced.reason, synced.message) == said
    assert (synced.observed_generation, synced.last_transition_time) == (4, NOW)


def test_the_time_changes_only_with_the_result() -> None:
    before = placement(conditions=(condition(SYNCED, "True", 3),))
    good, bad = (
        status_copies.with_outcome(before, status(SYNCED), error, now=NOW).conditions
        for error in ("", "it is full")
    )
    assert good[0].last_transition_time == before.status.conditions[0].last_transition_time
    assert bad[0].last_transition_time == NOW
