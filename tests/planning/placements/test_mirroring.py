"""Objects whose status is mirrored to the hub (contract: placement 2.3)."""

from typing import Any

import pytest

from api import names
from api.placements import PlacementSpec
from api.scheduling import PlacementPolicy
from planning.placements import mirroring

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("policy", "one"),
    [
        (None, False),
        ({"placementType": "PickAll"}, False),
        ({"placementType": "PickFixed", "clusterNames": ["a"]}, True),
        ({"placementType": "PickFixed", "clusterNames": ["a", "b"]}, False),
        ({"placementType": "PickFixed"}, False),
        ({"placementType": "PickN", "numberOfClusters": 1}, True),
        ({"placementType": "PickN", "numberOfClusters": 2}, False),
        ({"placementType": "PickN", "numberOfClusters": 0}, False),
    ],
)
def test_only_a_placement_that_picks_one_cluster_has_one_status(
    policy: Json | None, one: bool
) -> None:
    wire = PlacementPolicy.from_wire(policy) if policy is not None else None
    assert mirroring.picks_one(wire) is one


@pytest.mark.parametrize(
    ("strategy", "wanted"),
    [
        (None, False),
        ({"type": "Disabled"}, False),
        ({"type": "Mirror", "destination": "WorkAPI"}, False),
        ({"type": "Mirror", "destination": "OriginalResource"}, True),
    ],
)
def test_a_status_is_mirrored_if_the_strategy_says_so(strategy: Json | None, wanted: bool) -> None:
    spec: Json = {"resourceSelectors": [], "strategy": {"reportBackStrategy": strategy}}
    assert mirroring.is_wanted(PlacementSpec.from_wire(spec)) is wanted


def work(**labels: str) -> Json:
    identifier = {"ordinal": 0, "kind": "Job", "namespace": "app", "name": "load"}
    observed = {"apiVersion": "batch/v1", "kind": "Job", "status": {"active": 1}}
    entries = [
        {"identifier": identifier, "backReportedStatus": {"observedStatus": observed}},
        {"identifier": identifier | {"name": "silent"}},
    ]
    return {"metadata": {"labels": labels}, "status": {"manifestConditions": entries}}


def test_reported_statuses_identify_their_objects() -> None:
    (found,) = mirroring.reported(work())
    assert (found.api_version, found.kind, found.namespace, found.name) == (
        "batch/v1",
        "Job",
        "app",
        "load",
    )
    assert found.status == {"active": 1}


def test_objects_of_an_envelope_have_no_original_on_the_hub() -> None:
    assert mirroring.reported(work(**{names.ENVELOPE_WORK: "ResourceEnvelope"})) == []


def test_a_work_without_a_report_gives_no_status() -> None:
    assert mirroring.reported({"metadata": {}}) == []
