"""The status entry of one manifest: drift, differences and the reported status."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.outcomes import PatchDetail
from api.reasons import ManifestReason
from api.works import WorkResourceIdentifier, WorkStatus
from planning.members.availability import Availability
from planning.members.comparisons import ABSENT
from planning.members.outcomes import Outcome, Refusal, is_settled
from planning.members.work_status import report

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = NOW + timedelta(seconds=30)
IDENTIFIER = WorkResourceIdentifier(ordinal=0, version="v1", kind="ConfigMap", name="cm")
DETAIL = PatchDetail(path="/data/k", value_in_hub="v1", value_in_member="old")
DRIFTED = Refusal(ManifestReason.DRIFTED, "why")
Json = dict[str, Any]


def outcome(**more: Any) -> Outcome:
    return Outcome(IDENTIFIER, **more)


def entry(each: Outcome, *, before: WorkStatus | None = None, diff_only: bool = False) -> Json:
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
    found = entry(outcome(finding=ManifestReason(finding)), diff_only=True)["conditions"]
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
    (found,) = entry(outcome(refusal=Refusal(reason, "why")), diff_only=True)["conditions"]
    assert (found["status"], found["reason"], found["message"]) == (
        "False",
        "FailedToReportDiff",
        message,
    )


def test_a_missing_object_has_no_generation() -> None:
    absent = outcome(finding=ManifestReason.DIFF, is_there=False, diffs=[ABSENT], compared_at=NOW)
    assert entry(absent, diff_only=True)["diffDetails"] == {
        "observationTime": "2026-01-02T03:04:05Z",
        "firstDiffedObservedTime": "2026-01-02T03:04:05Z",
        "observedDiffs": [{"path": "/", "valueInHub": "(the whole object)"}],
    }


def test_drift_is_listed_with_the_generation_of_the_object() -> None:
    drifted = outcome(refusal=DRIFTED, drifts=[DETAIL], compared_at=NOW)
    assert entry(drifted)["driftDetails"] == {
        "observationTime": "2026-01-02T03:04:05Z",
        "firstDriftedObservedTime": "2026-01-02T03:04:05Z",
        "observedInMemberClusterGeneration": 0,
        "observedDrifts": [{"path": "/data/k", "valueInHub": "v1", "valueInMember": "old"}],
    }


def test_an_applied_object_may_have_drifted_beyond_its_manifest() -> None:
    found = entry(outcome(availability=Availability.AVAILABLE, generation=3, drifts=[DETAIL]))
    assert [each["status"] for each in found["conditions"]] == ["True", "True"]
    assert found["driftDetails"]["observedInMemberClusterGeneration"] == 3


@pytest.mark.parametrize("kind", ["drift", "diff"])
def test_the_first_observed_time_stays_until_nothing_differs(kind: str) -> None:
    first_name = {"drift": "firstDriftedObservedTime", "diff": "firstDiffedObservedTime"}[kind]
    before = WorkStatus()
    times = []
    for details, at in [([DETAIL], NOW), ([DETAIL], LATER), ([], LATER), ([DETAIL], LATER)]:
        each = outcome(compared_at=at, **{f"{kind}s": details})
        before = report([each], generation=1, before=before, now=at)
        found = before.to_wire()["manifestConditions"][0].get(f"{kind}Details")
        times.append(found and (found[first_name], found["observationTime"]))
    first, later = "2026-01-02T03:04:05Z", "2026-01-02T03:04:35Z"
    assert times == [(first, first), (first, later), None, (later, later)]


@pytest.mark.parametrize(
    ("each", "settled"),
    [
        (outcome(refusal=Refusal(ManifestReason.NOT_TAKEN_OVER, "why")), True),
        (outcome(refusal=DRIFTED, drifts=[DETAIL]), True),
        (outcome(refusal=Refusal(ManifestReason.TAKE_OVER_FAILED, "why"), diffs=[DETAIL]), True),
        (outcome(refusal=Refusal(ManifestReason.TAKE_OVER_FAILED, "claimed")), False),
        (outcome(finding=ManifestReason.DIFF, diffs=[DETAIL]), True),
        (outcome(finding=ManifestReason.NO_DIFF), True),
    ],
)
def test_an_outcome_that_only_a_change_of_the_object_can_fix_is_settled(
    each: Outcome, settled: bool
) -> None:
    assert is_settled([each]) is settled


def test_a_status_that_would_be_too_large_lists_paths_without_values() -> None:
    details = [
        PatchDetail(path=f"/data/{number}", value_in_hub="x" * 10_000) for number in range(100)
    ]
    status = report(
        [outcome(drifts=details), outcome(diffs=details[:1])],
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
        each = outcome(status=status, refusal=refusal)
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
    assert "backReportedStatus" not in entry(outcome(status={"ready": 1}))
