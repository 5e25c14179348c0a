from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.reasons import ManifestReason
from api.works import WorkResourceIdentifier, WorkStatus
from planning.members.availability import Availability
from planning.members.outcomes import Outcome, Refusal, is_settled
from planning.members.work_status import report

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
REFUSED = Refusal(ManifestReason.APPLY_FAILED, "failed to apply the manifest: no")


def outcome(
    ordinal: int = 0,
    *,
    availability: Availability = Availability.AVAILABLE,
    refusal: Refusal | None = None,
    generation: int = 0,
) -> Outcome:
    identifier = WorkResourceIdentifier(
        ordinal=ordinal, version="v1", kind="ConfigMap", name=f"cm{ordinal}"
    )
    return Outcome(identifier, refusal=refusal, generation=generation, availability=availability)


def said(outcomes: list[Outcome], **more: Any) -> dict[str, tuple[str, str, str]]:
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


def manifest(each: Outcome) -> list[dict[str, Any]]:
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
