"""The status of a Work: conditions about all manifests, and an entry for each."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.outcomes import PatchDetail
from api.reasons import ManifestReason
from api.works import WorkResourceIdentifier, WorkStatus
from planning.members.availability import Availability
from planning.members.comparisons import ABSENT
from planning.members.outcomes import ManifestOutcome, Refusal, is_settled
from planning.members.work_status import report

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
REFUSED = Refusal(ManifestReason.APPLY_FAILED, "failed to apply the manifest: no")


def outcome(
    ordinal: int = 0,
    *,
    availability: Availability = Availability.AVAILABLE,
    refusal: Refusal | None = None,
    generation: int = 0,
) -> ManifestOutcome:
    identifier = WorkResourceIdentifier(
        ordinal=ordinal, version="v1", kind="ConfigMap", name=f"cm{ordinal}"
    )
    return ManifestOutcome(
        identifier, refusal=refusal, generation=generation, availability=availability
    )


def said(outcomes: list[ManifestOutcome], **more: Any) -> dict[str, tuple[str, str, str]]:
    status = report(outcomes, generation=3, before=WorkStatus(), now=NOW, **more)
    assert all(each.observed_generation == 3 for each in status.conditions)
    return {each.type: (each.status, each.reason, each.message) for each in status.conditions}


APPLIED = ("True", "AllManifestsApplied", "All the specified manifests have been applied")
ALL_AVAILABLE = ("True", "AllManifestsAvailable", "All of the applied manifests are available")


@pytest.mark.parametrize("count", [0, 1, 2])
def test_all_manifests_are_applied_and_available(count: int) -> None:
    assert said([outcome(number) for number in range(count)]) == {
        "Applied": APPLIED,
        "Available": ALL_AVAILABLE,
    }


def test_availability_is_not_reported_before_everything_is_applied() -> None:
    outcomes = [outcome(0), outcome(1, refusal=REFUSED), outcome(2)]
    message = "Failed to apply all manifests (2 of 3 manifests are applied)"
    assert said(outcomes) == {"Applied": ("False", "SomeManifestsAreNotApplied", message)}


def test_some_manifests_are_not_available_yet() -> None:
    kinds = [Availability.AVAILABLE, Availability.NOT_YET, Availability.NOT_TRACKABLE]
    outcomes = [outcome(number, availability=kind) for number, kind in enumerate(kinds)]
    message = "Some manifests are not available (2 of 3 manifests are available)"
    assert said(outcomes)["Available"] == ("False", "SomeManifestsAreNotAvailable", message)


def test_untrackable_objects_count_as_available_and_are_mentioned() -> None:
    outcomes = [outcome(0), outcome(1, availability=Availability.NOT_TRACKABLE)]
    message = "Some of the applied manifests cannot be tracked for availability"
    assert said(outcomes)["Available"] == ("True", "WorkNotTrackable", message)


def test_a_work_that_only_reports_differences_has_no_other_condition() -> None:
    refusal = Refusal(ManifestReason.DIFF_FAILED, "why")
    message = "Failed to report diff on all manifests (0 of 1 manifests have reported diff)"
    assert said([outcome(refusal=refusal)], diff_only=True) == {
        "DiffReported": ("False", "SomeManifestsHaveNotReportedDiff", message)
    }


def manifest(each: ManifestOutcome) -> list[dict[str, Any]]:
    status = report([each], generation=1, before=WorkStatus(), now=NOW)
    conditions: list[dict[str, Any]] = status.to_wire()["manifestConditions"][0]["conditions"]
    return conditions


def test_a_generation_of_zero_is_left_out() -> None:
    assert all("observedGeneration" not in each for each in manifest(outcome()))
    assert [each["observedGeneration"] for each in manifest(outcome(generation=4))] == [4, 4]


def test_a_rejected_manifest_has_one_condition_with_the_error() -> None:
    assert manifest(outcome(refusal=REFUSED)) == [
        {
            "type": "Applied",
            "status": "False",
            "reason": "ManifestApplyFailed",
            "message": ("Failed to apply the manifest (error: failed to apply the manifest: no)"),
            "lastTransitionTime": "2026-01-02T03:04:05Z",
        }
    ]


@pytest.mark.parametrize(
    ("availability", "status", "reason"),
    [
        (Availability.AVAILABLE, "True", "Available"),
        (Availability.NOT_TRACKABLE, "True", "NotTrackable"),
        (Availability.NOT_YET, "False", "ManifestNotAvailableYet"),
    ],
)
def test_an_applied_manifest_reports_its_availability(
    availability: Availability, status: str, reason: str
) -> None:
    applied, available = manifest(outcome(availability=availability))
    assert (applied["type"], applied["status"], applied["reason"]) == ("Applied", "True", "Applied")
    assert (available["type"], available["status"], available["reason"]) == (
        "Available",
        status,
        reason,
    )


def test_the_same_outcomes_give_an_identical_report() -> None:
    outcomes = [outcome(0, generation=2), outcome(1, refusal=REFUSED)]
    first = report(outcomes, generation=1, before=WorkStatus(), now=NOW)
    stored = WorkStatus.from_wire(first.to_wire())
    again = report(outcomes, generation=1, before=stored, now=NOW + timedelta(hours=1))
    assert again.to_wire() == first.to_wire()


def test_a_condition_whose_status_changes_gets_a_new_time() -> None:
    waiting = [outcome(availability=Availability.NOT_YET)]
    before = report(waiting, generation=1, before=WorkStatus(), now=NOW)
    later = NOW + timedelta(hours=1)
    after = report([outcome()], generation=1, before=before, now=later)
    times = {each.type: each.last_transition_time for each in after.conditions}
    assert times == {"Applied": NOW, "Available": later}


def test_outcomes_are_settled_when_nothing_is_left_to_wait_for() -> None:
    assert is_settled([outcome(), outcome(1, availability=Availability.NOT_TRACKABLE)])
    assert not is_settled([outcome(), outcome(1, availability=Availability.NOT_YET)])
    assert not is_settled([outcome(), outcome(1, refusal=REFUSED)])


# -- the entry of one manifest: drift, differences and the reported status ----------------

LATER = NOW + timedelta(seconds=30)
IDENTIFIER = WorkResourceIdentifier(ordinal=0, version="v1", kind="ConfigMap", name="cm")
DETAIL = PatchDetail(path="/data/k", value_in_hub="v1", value_in_member="old")
DRIFTED = Refusal(ManifestReason.DRIFTED, "why")
Json = dict[str, Any]


def processed(**more: Any) -> ManifestOutcome:
    return ManifestOutcome(IDENTIFIER, **more)


def entry(
    each: ManifestOutcome, *, before: WorkStatus | None = None, diff_only: bool = False
) -> Json:
    status = report(
        [each], generation=1, before=before or WorkStatus(), now=NOW, diff_only=diff_only
    )
    found: Json = status.to_wire()["manifestConditions"][0]
    return found


@pytest.mark.parametrize(
    ("finding", "message"),
    [
        ("NoDiffFound", "No diff has been found between the hub cluster and the member cluster"),
        ("FoundDiff", "Diff has been found between the hub cluster and the member cluster"),
        (
            "FoundDiffInDegradedMode",
            (
                "Diff has been found in degraded mode: cannot perform partial comparison as the "
                "member cluster API server rejected the manifest object (object is invalid)"
            ),
        ),
    ],
)
def test_a_comparison_reports_its_result(finding: str, message: str) -> None:
    found = entry(processed(finding=ManifestReason(finding)), diff_only=True)["conditions"]
    assert found == [
        {
            "type": "DiffReported",
            "status": "True",
            "reason": finding,
            "message": message,
            "lastTransitionTime": "2026-01-02T03:04:05Z",
        }
    ]


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        (
            ManifestReason.DIFF_FAILED,
            (
                "Failed to report the diff between the hub cluster and the member cluster "
                "(error = why)"
            ),
        ),
        (
            ManifestReason.DECODING_ERROR,
            "An error blocks the diff reporting process (DecodingErred, error: why)",
        ),
    ],
)
def test_a_failed_comparison_says_why(reason: ManifestReason, message: str) -> None:
    (found,) = entry(processed(refusal=Refusal(reason, "why")), diff_only=True)["conditions"]
    assert (found["status"], found["reason"], found["message"]) == (
        "False",
        "FailedToReportDiff",
        message,
    )


def test_a_missing_object_has_no_generation() -> None:
    absent = processed(finding=ManifestReason.DIFF, is_there=False, diffs=[ABSENT], compared_at=NOW)
    assert entry(absent, diff_only=True)["diffDetails"] == {
        "observationTime": "2026-01-02T03:04:05Z",
        "firstDiffedObservedTime": "2026-01-02T03:04:05Z",
        "observedDiffs": [{"path": "/", "valueInHub": "(the whole object)"}],
    }


def test_drift_is_listed_with_the_generation_of_the_object() -> None:
    drifted = processed(refusal=DRIFTED, drifts=[DETAIL], compared_at=NOW)
    assert entry(drifted)["driftDetails"] == {
        "observationTime": "2026-01-02T03:04:05Z",
        "firstDriftedObservedTime": "2026-01-02T03:04:05Z",
        "observedInMemberClusterGeneration": 0,
        "observedDrifts": [{"path": "/data/k", "valueInHub": "v1", "valueInMember": "old"}],
    }


def test_an_applied_object_may_have_drifted_beyond_its_manifest() -> None:
    found = entry(processed(availability=Availability.AVAILABLE, generation=3, drifts=[DETAIL]))
    assert [each["status"] for each in found["conditions"]] == ["True", "True"]
    assert found["driftDetails"]["observedInMemberClusterGeneration"] == 3


@pytest.mark.parametrize("kind", ["drift", "diff"])
def test_the_first_observed_time_stays_until_nothing_differs(kind: str) -> None:
    first_name = {"drift": "firstDriftedObservedTime", "diff": "firstDiffedObservedTime"}[kind]
    before = WorkStatus()
    times = []
    for details, at in [([DETAIL], NOW), ([DETAIL], LATER), ([], LATER), ([DETAIL], LATER)]:
        each = processed(compared_at=at, **{f"{kind}s": details})
        before = report([each], generation=1, before=before, now=at)
        found = before.to_wire()["manifestConditions"][0].get(f"{kind}Details")
        times.append(found and (found[first_name], found["observationTime"]))
    first, later = "2026-01-02T03:04:05Z", "2026-01-02T03:04:35Z"
    assert times == [(first, first), (first, later), None, (later, later)]


@pytest.mark.parametrize(
    ("each", "settled"),
    [
        (processed(refusal=Refusal(ManifestReason.NOT_TAKEN_OVER, "why")), True),
        (processed(refusal=DRIFTED, drifts=[DETAIL]), True),
        (processed(refusal=Refusal(ManifestReason.TAKE_OVER_FAILED, "why"), diffs=[DETAIL]), True),
        (processed(refusal=Refusal(ManifestReason.TAKE_OVER_FAILED, "claimed")), False),
        (processed(finding=ManifestReason.DIFF, diffs=[DETAIL]), True),
        (processed(finding=ManifestReason.NO_DIFF), True),
    ],
)
def test_an_outcome_that_only_a_change_of_the_object_can_fix_is_settled(
    each: ManifestOutcome, settled: bool
) -> None:
    assert is_settled([each]) is settled


def test_a_status_that_would_be_too_large_lists_paths_without_values() -> None:
    details = [
        PatchDetail(path=f"/data/{number}", value_in_hub="x" * 10_000) for number in range(100)
    ]
    status = report(
        [processed(drifts=details), processed(diffs=details[:1])],
        generation=1,
        before=WorkStatus(),
        now=NOW,
    ).to_wire()
    trimmed = status["conditions"][-1]
    assert (trimmed["type"], trimmed["reason"]) == ("StatusTrimmed", "StatusOversized")
    first, second = status["manifestConditions"]
    omitted = {"valueInHub": "(omitted)", "valueInMember": "(omitted)"}
    assert first["driftDetails"]["observedDrifts"] == [
        {"path": "/data/0 and 99 more path(s)"} | omitted
    ]
    assert second["diffDetails"]["observedDiffs"] == [{"path": "/data/0"} | omitted]


def test_an_objects_status_is_reported_back_while_the_object_is_applied() -> None:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cm"}}
    before, shown = WorkStatus(), []
    for status, refusal, at in [
        ({"ready": 1}, None, NOW),
        ({"ready": 1}, None, LATER),
        ({"ready": 2}, None, LATER),
        ({"ready": 2}, DRIFTED, LATER),
        (None, None, LATER),
    ]:
        each = processed(status=status, refusal=refusal)
        before = report([each], generation=1, before=before, now=at, mirrored=[manifest])
        found = before.to_wire()["manifestConditions"][0].get("backReportedStatus", {})
        shown.append((found.get("observedStatus", {}).get("status"), found.get("observationTime")))
    assert shown == [
        ({"ready": 1}, "2026-01-02T03:04:05Z"),
        ({"ready": 1}, "2026-01-02T03:04:05Z"),
        ({"ready": 2}, "2026-01-02T03:04:35Z"),
        (None, None),
        (None, None),
    ]


def test_a_status_is_not_reported_back_unless_requested() -> None:
    assert "backReportedStatus" not in entry(processed(status={"ready": 1}))
