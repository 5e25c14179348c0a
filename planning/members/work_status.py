"""The status of a Work: conditions about all manifests together, and an entry for each.

contract: placement 8 (Work conditions, manifest conditions, StatusTrimmed) and 12
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from api import reasons
from api.base import Condition
from api.outcomes import PatchDetail
from api.reasons import ConditionType, ManifestMessage, ManifestReason, WorkMessage, WorkReason
from api.works import BackReportedStatus, DiffDetails, DriftDetails, ManifestCondition, WorkStatus
from planning import conditions
from planning.members.applied_resources import identity
from planning.members.availability import Availability
from planning.members.outcomes import ManifestOutcome

Json = Mapping[str, Any]

LIMIT: Final = 600 * 1024
"""Bytes for all entries: a Work's manifests may have 800 KiB, and etcd accepts 1.5 MiB."""


class _Said(NamedTuple):
    """One condition without its generation and time."""

    type: ConditionType
    status: str
    reason: str
    message: str


def report(
    outcomes: Sequence[ManifestOutcome],
    *,
    generation: int,
    before: WorkStatus,
    now: datetime,
    diff_only: bool = False,
    mirrored: Sequence[Json] = (),
) -> WorkStatus:
    """Return the status of a Work whose manifests have all been processed.

    Args:
        outcomes: one per manifest, in the order of the Work.
        generation: generation of the Work that was processed.
        before: the current status; times are kept where a condition's status is unchanged.
        now: time of conditions whose status has changed.
        diff_only: the Work's strategy is ReportDiff, so nothing was applied.
        mirrored: the manifests, or just their types, if the status of their objects is to be
            reported back.
    """
    known = {identity(each.identifier): each for each in before.manifest_conditions}
    entries = [
        _manifest_condition(
            each,
            before=known.get(identity(each.identifier)),
            now=now,
            diff_only=diff_only,
            mirrored=manifest,
        )
        for each, manifest in zip_longest(outcomes, mirrored)
    ]
    said = _said_of_diffs(outcomes) if diff_only else _said_of_all(outcomes)
    surplus = _surplus(entries)
    if surplus > 0:
        entries = [_without_details(each) for each in entries]
        said.append(_trimmed(surplus))
    whole = [conditions.make(*each, generation=generation, now=now) for each in said]
    return WorkStatus(
        conditions=conditions.renewed(before.conditions, whole), manifest_conditions=entries
    )


def _said_of_all(outcomes: Sequence[ManifestOutcome]) -> list[_Said]:
    total, done = len(outcomes), sum(outcome.is_applied for outcome in outcomes)
    if done < total:
        message = reasons.some_not_applied(done=done, total=total)
        return [_Said(ConditionType.APPLIED, "False", WorkReason.NOT_ALL_APPLIED, message)]
    applied = _Said(ConditionType.APPLIED, "True", WorkReason.APPLIED, WorkMessage.APPLIED)
    return [applied, _Said(ConditionType.AVAILABLE, *_availability_of_all(outcomes))]


def _availability_of_all(outcomes: Sequence[ManifestOutcome]) -> tuple[str, str, str]:
    counts = Counter(outcome.availability for outcome in outcomes)
    waiting, total = counts[Availability.NOT_YET], len(outcomes)
    if waiting:
        message = reasons.some_not_available(done=total - waiting, total=total)
        return "False", WorkReason.NOT_ALL_AVAILABLE, message
    if counts[Availability.NOT_TRACKABLE]:
        return "True", WorkReason.NOT_TRACKABLE, WorkMessage.NOT_TRACKABLE
    return "True", WorkReason.AVAILABLE, WorkMessage.AVAILABLE


def _said_of_diffs(outcomes: Sequence[ManifestOutcome]) -> list[_Said]:
    total, done = len(outcomes), sum(outcome.is_compared for outcome in outcomes)
    if done < total:
        message = reasons.some_not_diffed(done=done, total=total)
        return [_Said(ConditionType.DIFF_REPORTED, "False", WorkReason.NOT_ALL_DIFFED, message)]
    return [_Said(ConditionType.DIFF_REPORTED, "True", WorkReason.DIFFED, WorkMessage.DIFFED)]


def _trimmed(surplus: int) -> _Said:
    message = reasons.status_trimmed(surplus=surplus, limit=LIMIT)
    return _Said(ConditionType.STATUS_TRIMMED, "True", WorkReason.TRIMMED, message)


# -- the entry of one manifest ------------------------------------------------------------


def _manifest_condition(
    outcome: ManifestOutcome,
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
        conditions=conditions.renewed(before.conditions if before else (), fresh),
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


def _said_of_apply(outcome: ManifestOutcome) -> list[_Said]:
    if outcome.refusal is not None:
        message = reasons.MANIFEST_APPLY_FAILED.fill(error=outcome.refusal.error)
        return [_Said(ConditionType.APPLIED, "False", outcome.refusal.reason, message)]
    message = _MESSAGES[outcome.finding]
    applied = _Said(ConditionType.APPLIED, "True", outcome.finding, message)
    return [applied, _AVAILABILITY[outcome.availability]]


def _said_of_diff(outcome: ManifestOutcome) -> _Said:
    refusal = outcome.refusal
    if refusal is None:
        message = _MESSAGES[outcome.finding]
        return _Said(ConditionType.DIFF_REPORTED, "True", outcome.finding, message)
    if refusal.reason is ManifestReason.DIFF_FAILED:
        message = reasons.MANIFEST_DIFF_FAILED.fill(error=refusal.error)
    else:
        message = reasons.MANIFEST_DIFF_BLOCKED.fill(reason=refusal.reason, error=refusal.error)
    return _Said(ConditionType.DIFF_REPORTED, "False", ManifestReason.DIFF_FAILED, message)


def _condition(said: _Said, generation: int, now: datetime) -> Condition:
    # A generation of 0 is left out, as KubeFleet does.
    observed = {"observed_generation": generation} if generation else {}
    return Condition.model_validate(said._asdict() | {"last_transition_time": now} | observed)


def _drift_details(
    outcome: ManifestOutcome, before: DriftDetails | None, now: datetime
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
    outcome: ManifestOutcome, before: DiffDetails | None, now: datetime
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
    outcome: ManifestOutcome,
    mirrored: Json | None,
    before: BackReportedStatus | None,
    now: datetime,
) -> BackReportedStatus | None:
    """Return the object's own status, with the time since which it has been so."""
    if mirrored is None or not outcome.is_applied or not outcome.status:
        return None
    observed = {field: mirrored[field] for field in ("apiVersion", "kind")}
    observed["status"] = dict(outcome.status)
    if before is not None and before.observed_status == observed:
        return before
    return BackReportedStatus(observed_status=observed, observation_time=now)


# -- a size that can be stored ------------------------------------------------------------

_OMITTED: Final = "(omitted)"


def _surplus(entries: Iterable[ManifestCondition]) -> int:
    """Return by how many bytes the entries are too large; 0 or less if they are not."""
    return len(json.dumps([each.to_wire() for each in entries])) - LIMIT


def _without_details(entry: ManifestCondition) -> ManifestCondition:
    """Return the entry with one summary for all drifts and one for all diffs, without a status."""
    drift, diff = entry.drift_details, entry.diff_details
    return entry.model_copy(
        update={
            "drift_details": drift
            and drift.model_copy(update={"observed_drifts": _summary(drift.observed_drifts)}),
            "diff_details": diff
            and diff.model_copy(update={"observed_diffs": _summary(diff.observed_diffs)}),
            "back_reported_status": None,
        }
    )


def _summary(details: Sequence[PatchDetail]) -> list[PatchDetail]:
    path, more = details[0].path, len(details) - 1
    if more:
        path = f"{path} and {more} more path(s)"
    return [PatchDetail(path=path, value_in_member=_OMITTED, value_in_hub=_OMITTED)]
