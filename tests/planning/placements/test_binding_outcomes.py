"""A binding's lists of failed, drifted and differing objects (contract: placement 6, 7, 10)."""

from typing import Any

import pytest

from api.outcomes import EnvelopeIdentifier, EnvelopeType
from api.works import WorkStatus
from planning.placements import mirroring
from planning.placements.binding_status import MAX_LISTED, diffed, drifted, failed
from planning.placements.binding_steps import WorkReport, kept
from tests.support import conditions
from tests.support.conditions import AT

Json = dict[str, Any]
BOX = EnvelopeIdentifier(name="box", namespace="app", type=EnvelopeType.RESOURCE_ENVELOPE)
DETAILS: dict[str, Json] = {
    "drift": {
        "observationTime": AT,
        "observedInMemberClusterGeneration": 0,
        "firstDriftedObservedTime": AT,
        "observedDrifts": [{"path": "/data/k", "valueInMember": "m", "valueInHub": "h"}],
    },
    "diff": {
        "observationTime": AT,
        "firstDiffedObservedTime": AT,
        "observedDiffs": [{"path": "/", "valueInHub": "(the whole object)"}],
    },
}


def condition(kind: str, status: str = "False") -> Json:
    return conditions.condition(kind, status, None, reason="Because", message="so", at=AT)


def manifest(kind: str, name: str, *conditions: Json, **details: Json) -> Json:
    identifier = {"ordinal": 0, "version": "v1", "kind": kind, "name": name, "namespace": "app"}
    return {"identifier": identifier, "conditions": list(conditions)} | details


def work(*manifests: Json, envelope: EnvelopeIdentifier | None = None) -> WorkReport:
    status = WorkStatus.from_wire({"conditions": [], "manifestConditions": list(manifests)})
    return WorkReport("p-work", 1, status, envelope)


def test_a_failed_object_is_listed_with_its_condition_and_envelope() -> None:
    available, applied = condition("Available"), condition("Applied")
    plain = work(manifest("Deployment", "d", condition("Applied", "True"), available))
    boxed = work(manifest("ConfigMap", "cm", applied), envelope=BOX)

    first, second = (each.to_wire() for each in failed([plain, boxed]))

    assert first == {
        "version": "v1",
        "kind": "Deployment",
        "name": "d",
        "namespace": "app",
        "condition": available,
    }
    assert second["envelope"] == {"name": "box", "namespace": "app", "type": "ResourceEnvelope"}
    assert second["condition"] == applied


def test_objects_without_problems_are_not_listed() -> None:
    fine = work(manifest("ConfigMap", "cm", condition("Applied", "True")))
    assert [*failed([fine]), *drifted([fine]), *diffed([fine])] == []


@pytest.mark.parametrize(("collect", "details"), [(drifted, "drift"), (diffed, "diff")])
def test_drifts_and_differences_are_sorted_by_object(collect: Any, details: str) -> None:
    found = {f"{details}Details": DETAILS[details]}
    names = ("Namespace", "ConfigMap")
    plain = work(*(manifest(kind, "a", **found) for kind in names))
    boxed = work(manifest("ConfigMap", "a", **found), envelope=BOX)

    listed = [(each.kind, each.envelope) for each in collect([plain, boxed])]

    assert listed == [("ConfigMap", None), ("ConfigMap", BOX), ("Namespace", None)]


def test_a_difference_keeps_the_observed_values() -> None:
    (entry,) = diffed([work(manifest("ConfigMap", "cm", diffDetails=DETAILS["diff"]))])
    assert entry.to_wire() == {
        "version": "v1",
        "kind": "ConfigMap",
        "name": "cm",
        "namespace": "app",
        **DETAILS["diff"],
    }


@pytest.mark.parametrize(
    ("collect", "bad"),
    [
        (failed, {}),
        (drifted, {"driftDetails": DETAILS["drift"]}),
        (diffed, {"diffDetails": DETAILS["diff"]}),
    ],
)
def test_lists_have_at_most_a_hundred_entries(collect: Any, bad: Json) -> None:
    applied = condition("Applied")
    many = [manifest("ConfigMap", f"c{n:03}", applied, **bad) for n in range(MAX_LISTED + 5)]
    listed = collect([work(*reversed(many))])
    assert len(listed) == MAX_LISTED
    if bad:
        assert listed[0].name == "c000"


def test_the_reduced_form_of_a_work_reports_the_same_as_the_whole() -> None:
    observed = {"apiVersion": "v1", "kind": "ConfigMap", "status": {"well": "yes"}}
    reported = {"observedStatus": observed, "observationTime": AT}
    well, bad = condition("Applied", "True"), condition("Applied")
    manifests = [
        manifest("ConfigMap", "well", well, condition("Available", "True")),
        manifest("ConfigMap", "failed", bad),
        manifest("ConfigMap", "drifted", well, driftDetails=DETAILS["drift"]),
        manifest("ConfigMap", "diffed", well, diffDetails=DETAILS["diff"]),
        manifest("ConfigMap", "told", well, backReportedStatus=reported),
    ]
    strategy = {"type": "ServerSideApply"}
    whole = {
        "metadata": {"name": "w", "generation": 3, "labels": {}},
        "spec": {"workload": {"manifests": [{"data": "x" * 1000}]}, "applyStrategy": strategy},
        "status": {"conditions": [well], "manifestConditions": manifests},
    }

    less = kept(whole)

    assert less["spec"] == {"applyStrategy": strategy}
    assert less["status"]["conditions"] == [well]
    assert less["status"]["manifestConditions"] == manifests[1:]
    report, same = WorkReport.read(whole), WorkReport.read(less)
    for outcomes in (failed, drifted, diffed):
        assert outcomes([same]) == outcomes([report]) != ()
    assert mirroring.reported(less) == mirroring.reported(whole) != []


@pytest.mark.parametrize("status", [{}, {"status": {}}, {"status": None}])
def test_a_work_without_a_report_can_be_reduced(status: Json) -> None:
    metadata = {"name": "w", "generation": 1}
    assert WorkReport.read(kept({"metadata": metadata} | status)).status == WorkStatus()
