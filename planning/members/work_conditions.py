"""What a Work's status says about its manifests, one by one and as a whole.

contract: placement 8 (Work and manifest conditions) and 12
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from api import reasons
from api.base import Condition
from api.reasons import ConditionType, ManifestMessage, ManifestReason, WorkMessage, WorkReason
from api.works import ManifestCondition, WorkResourceIdentifier, WorkStatus
from planning import conditions
from planning.condition_lists import renewed
from planning.members.applied_resources import Identity, identity
from planning.members.availability import Availability


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a manifest was not applied."""

    reason: ManifestReason
    error: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one manifest."""

    identifier: WorkResourceIdentifier
    refusal: Refusal | None = None
    """Why it was not applied; None when it was."""
    generation: int = 0
    """Generation of the object on the member; 0 when it is absent or of a kind without."""
    availability: Availability = Availability.NOT_YET
    """Counts only once the manifest is applied."""

    @property
    def is_applied(self) -> bool:
        """Whether the member has the object as the manifest says."""
        return self.refusal is None

    @property
    def is_available(self) -> bool:
        """Whether the object is applied and, as far as one can tell, does its work."""
        return self.is_applied and self.availability is not Availability.NOT_YET


def is_settled(outcomes: Iterable[Outcome]) -> bool:
    """Whether nothing is left to wait for or to try again."""
    return all(outcome.is_available for outcome in outcomes)


class _Said(NamedTuple):
    """One condition but for its generation and time."""

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
) -> WorkStatus:
    """The status of a Work of which every manifest was looked at.

    Args:
        outcomes: one a manifest, in the order of the Work.
        generation: generation of the Work that was processed.
        before: the present status; times are kept where a condition's status stays.
        now: time of conditions whose status is new.
        diff_only: the Work's strategy is ReportDiff, so nothing was applied.
    """
    said = _said_of_diffs(outcomes) if diff_only else _said_of_all(outcomes)
    whole = [conditions.make(*each, generation=generation, now=now) for each in said]
    known = {identity(each.identifier): each.conditions for each in before.manifest_conditions}
    return WorkStatus(
        conditions=renewed(before.conditions, whole),
        manifest_conditions=[_manifest_condition(outcome, known, now) for outcome in outcomes],
    )


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
    total, done = len(outcomes), sum(outcome.is_applied for outcome in outcomes)
    if done < total:
        message = reasons.some_not_diffed(done=done, total=total)
        return [_Said(ConditionType.DIFF_REPORTED, "False", WorkReason.NOT_ALL_DIFFED, message)]
    return [_Said(ConditionType.DIFF_REPORTED, "True", WorkReason.DIFFED, WorkMessage.DIFFED)]


def _manifest_condition(
    outcome: Outcome, known: Mapping[Identity, Sequence[Condition]], now: datetime
) -> ManifestCondition:
    fresh = [_condition(said, outcome.generation, now) for said in _said_of(outcome)]
    before = known.get(identity(outcome.identifier), ())
    return ManifestCondition(identifier=outcome.identifier, conditions=renewed(before, fresh))


_APPLIED: Final = _Said(
    ConditionType.APPLIED, "True", ManifestReason.APPLIED, ManifestMessage.APPLIED
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


def _said_of(outcome: Outcome) -> list[_Said]:
    refusal = outcome.refusal
    if refusal is None:
        return [_APPLIED, _AVAILABILITY[outcome.availability]]
    if refusal.reason is ManifestReason.DIFF_FAILED:
        message = reasons.manifest_diff_failed(refusal.error)
        return [_Said(ConditionType.DIFF_REPORTED, "False", refusal.reason, message)]
    message = reasons.manifest_apply_failed(refusal.error)
    return [_Said(ConditionType.APPLIED, "False", refusal.reason, message)]


def _condition(said: _Said, generation: int, now: datetime) -> Condition:
    # A generation of 0 is left out, as KubeFleet does.
    observed = {"observed_generation": generation} if generation else {}
    return Condition.model_validate(said._asdict() | {"last_transition_time": now} | observed)
