"""What a Work's status says about its manifests, one by one and as a whole.

contract: placement 8 (Work and manifest conditions) and 12
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from api.base import Condition
from api.works import ManifestCondition, WorkResourceIdentifier, WorkStatus
from planning import conditions
from planning.applied_resources import Identity, identity
from planning.availability import Availability
from planning.condition_lists import renewed

APPLIED: Final = "Applied"
AVAILABLE: Final = "Available"
DIFF_REPORTED: Final = "DiffReported"


class ApplyResult(StrEnum):
    """How the attempt to apply one manifest ended; the reason of its Applied condition."""

    APPLIED = "Applied"
    DECODING_ERRED = "DecodingErred"
    FOUND_GENERATE_NAME = "FoundGenerateName"
    DUPLICATED = "Duplicated"
    FAILED_TO_FIND = "FailedToFindObjInMemberCluster"
    FAILED_TO_TAKE_OVER = "FailedToTakeOver"
    NOT_TAKEN_OVER = "NotTakenOver"
    FAILED_TO_DETECT_DRIFT = "FailedToRunDriftDetection"
    FOUND_DRIFTS = "FoundDrifts"
    MANIFEST_APPLY_FAILED = "ManifestApplyFailed"
    FAILED_TO_REPORT_DIFF = "FailedToReportDiff"
    """Only with the strategy ReportDiff, which applies nothing."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a manifest was not applied."""

    result: ApplyResult
    error: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one manifest."""

    identifier: WorkResourceIdentifier
    result: ApplyResult = ApplyResult.APPLIED
    error: str = ""
    """Why it was not applied; empty when it was."""
    generation: int = 0
    """Generation of the object on the member; 0 when it is absent or of a kind without."""
    availability: Availability = Availability.NOT_YET
    """Counts only once the manifest is applied."""

    @property
    def is_applied(self) -> bool:
        """Whether the member has the object as the manifest says."""
        return self.result is ApplyResult.APPLIED

    @property
    def is_available(self) -> bool:
        """Whether the object is applied and, as far as one can tell, does its work."""
        return self.is_applied and self.availability is not Availability.NOT_YET


def is_settled(outcomes: Iterable[Outcome]) -> bool:
    """Whether nothing is left to wait for or to try again."""
    return all(outcome.is_available for outcome in outcomes)


def report(
    outcomes: Sequence[Outcome],
    *,
    generation: int,
    before: WorkStatus,
    now: datetime,
    diff_only: bool = False,
) -> WorkStatus:
    """The status of a Work of which every manifest was looked at.

    Args:
        outcomes: one a manifest, in the order of the Work.
        generation: generation of the Work that was processed.
        before: the present status; times are kept where a condition's status stays.
        now: time of conditions whose status is new.
        diff_only: the Work's strategy is ReportDiff, so nothing was applied.
    """
    kinds = _diff_conditions if diff_only else _apply_conditions
    whole = kinds(outcomes, generation, now)
    known = {identity(each.identifier): each.conditions for each in before.manifest_conditions}
    each_manifest = [_manifest_condition(outcome, known, now) for outcome in outcomes]
    return WorkStatus(
        conditions=renewed(before.conditions, whole), manifest_conditions=each_manifest
    )


def _apply_conditions(
    outcomes: Sequence[Outcome], generation: int, now: datetime
) -> list[Condition]:
    total, applied = len(outcomes), sum(outcome.is_applied for outcome in outcomes)
    if applied < total:
        return [
            conditions.make(
                APPLIED,
                "False",
                "SomeManifestsAreNotApplied",
                f"Failed to apply all manifests ({applied} of {total} manifests are applied)",
                generation=generation,
                now=now,
            )
        ]
    done = conditions.make(
        APPLIED,
        "True",
        "AllManifestsApplied",
        "All the specified manifests have been applied",
        generation=generation,
        now=now,
    )
    return [done, _available(outcomes, generation, now)]


def _available(outcomes: Sequence[Outcome], generation: int, now: datetime) -> Condition:
    counts = Counter(outcome.availability for outcome in outcomes)
    available = len(outcomes) - counts[Availability.NOT_YET]
    status, reason = "True", "AllManifestsAvailable"
    message = "All of the applied manifests are available"
    if counts[Availability.NOT_YET]:
        status, reason = "False", "SomeManifestsAreNotAvailable"
        message = (
            f"Some manifests are not available ({available} of {len(outcomes)} manifests are "
            "available)"
        )
    elif counts[Availability.NOT_TRACKABLE]:
        reason = "WorkNotTrackable"
        message = "Some of the applied manifests cannot be tracked for availability"
    return conditions.make(AVAILABLE, status, reason, message, generation=generation, now=now)


def _diff_conditions(
    outcomes: Sequence[Outcome], generation: int, now: datetime
) -> list[Condition]:
    total, reported = len(outcomes), sum(outcome.is_applied for outcome in outcomes)
    if reported < total:
        status, reason = "False", "SomeManifestsHaveNotReportedDiff"
        message = (
            f"Failed to report diff on all manifests ({reported} of {total} manifests have "
            "reported diff)"
        )
    else:
        status, reason = "True", "AllManifestsDiffReported"
        message = "All the specified manifests have reported diff"
    return [conditions.make(DIFF_REPORTED, status, reason, message, generation=generation, now=now)]


class _Said(NamedTuple):
    """One condition but for its generation and time."""

    type: str
    status: str
    reason: str
    message: str


_ASSUMED: Final = (
    "Manifest's availability is not trackable; Fleet assumes that the applied manifest is available"
)
_LATER: Final = "Manifest is not yet available; Fleet will check again later"
_AVAILABILITY: Final[Mapping[Availability, _Said]] = {
    Availability.AVAILABLE: _Said(AVAILABLE, "True", "Available", "Manifest is available"),
    Availability.NOT_TRACKABLE: _Said(AVAILABLE, "True", "NotTrackable", _ASSUMED),
    Availability.NOT_YET: _Said(AVAILABLE, "False", "ManifestNotAvailableYet", _LATER),
}


def _manifest_condition(
    outcome: Outcome, known: Mapping[Identity, Sequence[Condition]], now: datetime
) -> ManifestCondition:
    fresh = [_condition(said, outcome.generation, now) for said in _said_of(outcome)]
    before = known.get(identity(outcome.identifier), ())
    return ManifestCondition(identifier=outcome.identifier, conditions=renewed(before, fresh))


def _said_of(outcome: Outcome) -> list[_Said]:
    if outcome.is_applied:
        message = "Manifest has been applied successfully"
        applied = _Said(APPLIED, "True", outcome.result, message)
        return [applied, _AVAILABILITY[outcome.availability]]
    if outcome.result is ApplyResult.FAILED_TO_REPORT_DIFF:
        message = (
            "Failed to report the diff between the hub cluster and the member cluster "
            f"(error = {outcome.error})"
        )
        return [_Said(DIFF_REPORTED, "False", outcome.result, message)]
    message = f"Failed to apply the manifest (error: {outcome.error})"
    return [_Said(APPLIED, "False", outcome.result, message)]


def _condition(said: _Said, generation: int, now: datetime) -> Condition:
    # A generation of 0 is left out, as KubeFleet does.
    observed = {"observed_generation": generation} if generation else {}
    return Condition.model_validate(said._asdict() | {"last_transition_time": now} | observed)
