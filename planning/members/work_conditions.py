"""The status of a Work, and its conditions about all manifests together.

contract: placement 8 (Work conditions) and 12
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Any, NamedTuple

from api import reasons
from api.reasons import ConditionType, WorkMessage, WorkReason
from api.works import WorkStatus
from planning import conditions
from planning.conditions import renewed
from planning.members import status_sizes
from planning.members.applied_resources import identity
from planning.members.availability import Availability
from planning.members.manifest_conditions import manifest_condition
from planning.members.outcomes import Outcome

Json = Mapping[str, Any]


class _Said(NamedTuple):
    """One condition without its generation and time."""

    type: ConditionType
    status: str
    reason: str
    message: str


def report(
    outcomes: Sequence[Outcome],
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
        manifest_condition(
            each,
            before=known.get(identity(each.identifier)),
            now=now,
            diff_only=diff_only,
            mirrored=manifest,
        )
        for each, manifest in zip_longest(outcomes, mirrored)
    ]
    said = _said_of_diffs(outcomes) if diff_only else _said_of_all(outcomes)
    surplus = status_sizes.surplus(entries)
    if surplus > 0:
        entries = [status_sizes.trimmed(each) for each in entries]
        said.append(_trimmed(surplus))
    whole = [conditions.make(*each, generation=generation, now=now) for each in said]
    return WorkStatus(conditions=renewed(before.conditions, whole), manifest_conditions=entries)


def _said_of_all(outcomes: Sequence[Outcome]) -> list[_Said]:
    total, done = len(outcomes), sum(outcome.is_applied for outcome in outcomes)
    if done < total:
        message = reasons.some_not_applied(done=done, total=total)
        return [_Said(ConditionType.APPLIED, "False", WorkReason.NOT_ALL_APPLIED, message)]
    applied = _Said(ConditionType.APPLIED, "True", WorkReason.APPLIED, WorkMessage.APPLIED)
    return [applied, _Said(ConditionType.AVAILABLE, *_availability_of_all(outcomes))]


def _availability_of_all(outcomes: Sequence[Outcome]) -> tuple[str, str, str]:
    counts = Counter(outcome.availability for outcome in outcomes)
    waiting, total = counts[Availability.NOT_YET], len(outcomes)
    if waiting:
        message = reasons.some_not_available(done=total - waiting, total=total)
        return "False", WorkReason.NOT_ALL_AVAILABLE, message
    if counts[Availability.NOT_TRACKABLE]:
        return "True", WorkReason.NOT_TRACKABLE, WorkMessage.NOT_TRACKABLE
    return "True", WorkReason.AVAILABLE, WorkMessage.AVAILABLE


def _said_of_diffs(outcomes: Sequence[Outcome]) -> list[_Said]:
    total, done = len(outcomes), sum(outcome.is_compared for outcome in outcomes)
    if done < total:
        message = reasons.some_not_diffed(done=done, total=total)
        return [_Said(ConditionType.DIFF_REPORTED, "False", WorkReason.NOT_ALL_DIFFED, message)]
    return [_Said(ConditionType.DIFF_REPORTED, "True", WorkReason.DIFFED, WorkMessage.DIFFED)]


def _trimmed(surplus: int) -> _Said:
    message = reasons.status_trimmed(surplus=surplus, limit=status_sizes.LIMIT)
    return _Said(ConditionType.STATUS_TRIMMED, "True", WorkReason.TRIMMED, message)
