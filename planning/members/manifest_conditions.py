"""The entry of one manifest in a Work's status.

contract: placement 8 (manifest conditions) and 12
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

from api import reasons
from api.base import Condition
from api.reasons import ConditionType, ManifestMessage, ManifestReason
from api.works import BackReportedStatus, DiffDetails, DriftDetails, ManifestCondition
from planning.conditions import renewed
from planning.members.availability import Availability
from planning.members.outcomes import Outcome

Json = Mapping[str, Any]


class _Said(NamedTuple):
    """One condition without its generation and time."""

    type: ConditionType
    status: str
    reason: str
    message: str


def manifest_condition(
    outcome: Outcome,
    *,
    before: ManifestCondition | None,
    now: datetime,
    diff_only: bool,
    mirrored: Json | None = None,
) -> ManifestCondition:
    """Return the status entry of one manifest.

    Args:
        outcome: result of processing it.
        before: its current entry; times are kept where the state is unchanged.
        now: time of new entries.
        diff_only: the Work's strategy is ReportDiff, so nothing was applied.
        mirrored: the manifest, if the object's own status is to be reported back.
    """
    said = [_said_of_diff(outcome)] if diff_only else _said_of_apply(outcome)
    fresh = [_condition(each, outcome.generation, now) for each in said]
    return ManifestCondition(
        identifier=outcome.identifier,
        conditions=renewed(before.conditions if before else (), fresh),
        drift_details=_drift_details(outcome, before.drift_details if before else None, now),
        diff_details=_diff_details(outcome, before.diff_details if before else None, now),
        back_reported_status=_back_reported(
            outcome, mirrored, before.back_reported_status if before else None, now
        ),
    )


_AVAILABILITY: Final[Mapping[Availability, _Said]] = {
    Availability.AVAILABLE: _Said(
        ConditionType.AVAILABLE, "True", ManifestReason.AVAILABLE, ManifestMessage.AVAILABLE
    ),
    Availability.NOT_TRACKABLE: _Said(
        ConditionType.AVAILABLE, "True", ManifestReason.NOT_TRACKABLE, ManifestMessage.NOT_TRACKABLE
    ),
    Availability.NOT_YET: _Said(
        ConditionType.AVAILABLE,
        "False",
        ManifestReason.NOT_AVAILABLE,
        ManifestMessage.NOT_AVAILABLE,
    ),
}
_MESSAGES: Final[Mapping[ManifestReason, str]] = {
    ManifestReason.APPLIED: ManifestMessage.APPLIED,
    # It has no message of its own.
    ManifestReason.APPLIED_WITHOUT_DRIFT_DETECTION: ManifestReason.APPLIED_WITHOUT_DRIFT_DETECTION,
    ManifestReason.NO_DIFF: ManifestMessage.NO_DIFF,
    ManifestReason.DIFF: ManifestMessage.DIFF,
    ManifestReason.DIFF_DEGRADED: ManifestMessage.DIFF_DEGRADED,
}


def _said_of_apply(outcome: Outcome) -> list[_Said]:
    if outcome.refusal is not None:
        message = reasons.manifest_apply_failed(outcome.refusal.error)
        return [_Said(ConditionType.APPLIED, "False", outcome.refusal.reason, message)]
    message = _MESSAGES[outcome.finding]
    applied = _Said(ConditionType.APPLIED, "True", outcome.finding, message)
    return [applied, _AVAILABILITY[outcome.availability]]


def _said_of_diff(outcome: Outcome) -> _Said:
    refusal = outcome.refusal
    if refusal is None:
        message = _MESSAGES[outcome.finding]
        return _Said(ConditionType.DIFF_REPORTED, "True", outcome.finding, message)
    if refusal.reason is ManifestReason.DIFF_FAILED:
        message = reasons.manifest_diff_failed(refusal.error)
    else:
        message = reasons.manifest_diff_blocked(refusal.reason, refusal.error)
    return _Said(ConditionType.DIFF_REPORTED, "False", ManifestReason.DIFF_FAILED, message)


def _condition(said: _Said, generation: int, now: datetime) -> Condition:
    # A generation of 0 is left out, as KubeFleet does.
    observed = {"observed_generation": generation} if generation else {}
    return Condition.model_validate(said._asdict() | {"last_transition_time": now} | observed)


def _drift_details(
    outcome: Outcome, before: DriftDetails | None, now: datetime
) -> DriftDetails | None:
    if not outcome.drifts:
        return None
    seen = outcome.compared_at or now
    return DriftDetails(
        observation_time=seen,
        observed_in_member_cluster_generation=outcome.generation,
        first_drifted_observed_time=before.first_drifted_observed_time if before else seen,
        observed_drifts=list(outcome.drifts),
    )


def _diff_details(
    outcome: Outcome, before: DiffDetails | None, now: datetime
) -> DiffDetails | None:
    if not outcome.diffs:
        return None
    seen = outcome.compared_at or now
    return DiffDetails(
        observation_time=seen,
        observed_in_member_cluster_generation=outcome.generation if outcome.is_there else None,
        first_diffed_observed_time=before.first_diffed_observed_time if before else seen,
        observed_diffs=list(outcome.diffs),
    )


def _back_reported(
    outcome: Outcome, mirrored: Json | None, before: BackReportedStatus | None, now: datetime
) -> BackReportedStatus | None:
    """Return the object's own status, with the time since which it has been so."""
    if mirrored is None or not outcome.is_applied or not outcome.status:
        return None
    observed = {field: mirrored[field] for field in ("apiVersion", "kind")}
    observed["status"] = dict(outcome.status)
    if before is not None and before.observed_status == observed:
        return before
    return BackReportedStatus(observed_status=observed, observation_time=now)
