"""Results of processing the manifests of a Work: what was done, and when to process it again.

contract: placement 8 (manifest conditions; re-processing is periodic with growing delay)
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from api.outcomes import PatchDetail
from api.reasons import ManifestReason
from api.works import WorkResourceIdentifier
from planning.members.availability import Availability

_APPLIED: Final = frozenset(
    {ManifestReason.APPLIED, ManifestReason.APPLIED_WITHOUT_DRIFT_DETECTION}
)
_COMPARED: Final = frozenset(
    {ManifestReason.NO_DIFF, ManifestReason.DIFF, ManifestReason.DIFF_DEGRADED}
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a manifest was not applied, or not compared."""

    reason: ManifestReason
    error: str


@dataclass(frozen=True, slots=True)
class ManifestOutcome:
    """Result of processing one manifest."""

    identifier: WorkResourceIdentifier
    refusal: Refusal | None = None
    """Why nothing was done; None if something was."""
    finding: ManifestReason = ManifestReason.APPLIED
    """What was done or found, unless there is a refusal."""
    is_there: bool = True
    """True when the member has the object."""
    generation: int = 0
    """Generation of the object on the member; 0 if it is absent or its kind has none."""
    availability: Availability = Availability.NOT_YET
    """Valid only if the manifest is applied."""
    drifts: Sequence[PatchDetail] = ()
    """Changes made on the member to an object of the Work."""
    diffs: Sequence[PatchDetail] = ()
    """Differences of an object that the Work does not own, or only compares."""
    status: Mapping[str, Any] | None = None
    """The object's own status; None if its kind has none, or if it is not applied."""
    compared_at: datetime | None = None
    """When drifts and diffs were found."""

    @property
    def is_applied(self) -> bool:
        """True when the object is on the member as the manifest says."""
        return self.refusal is None and self.finding in _APPLIED

    @property
    def is_compared(self) -> bool:
        """True when only a comparison was wanted, and it succeeded."""
        return self.refusal is None and self.finding in _COMPARED

    @property
    def is_available(self) -> bool:
        """True when the object is applied and available, as far as this can be tracked."""
        return self.is_applied and self.availability is not Availability.NOT_YET

    @property
    def is_held_back(self) -> bool:
        """True when the apply strategy says to leave the object alone until it changes."""
        if self.refusal is None:
            return False
        left_alone = self.refusal.reason is ManifestReason.NOT_TAKEN_OVER
        return left_alone or bool(self.drifts or self.diffs)

    @property
    def is_settled(self) -> bool:
        """True when there is nothing to wait for or retry unless the object changes."""
        return self.is_available or self.is_compared or self.is_held_back


def is_settled(outcomes: Iterable[ManifestOutcome]) -> bool:
    """Return whether nothing is left to wait for or retry."""
    return all(outcome.is_settled for outcome in outcomes)


# -- when a Work is processed again without any event -------------------------------------

_UNSETTLED_FIRST: Final = timedelta(seconds=2)
_UNSETTLED_MOST: Final = timedelta(seconds=30)
_UNSETTLED_GROWTH: Final = 1.2
_SETTLED_GROWTH: Final = 1.5
_SETTLED_MOST: Final = timedelta(minutes=15)
"""A change that no watch reported is repaired after this time at the latest."""

_REPAIR_FIRST: Final = timedelta(seconds=1)
_REPAIR_MOST: Final = timedelta(minutes=5)
_REPAIR_GROWTH: Final = 2.0

_ENOUGH: Final = 20
"""Attempts after which every interval has reached its limit, while the power is still small."""


def recheck_pause(attempt: int, *, settled: bool) -> timedelta:
    """Return how long to wait after the given consecutive attempt (1 or more) of the same kind.

    Args:
        attempt: how often in a row the Work was processed with nothing new to do.
        settled: everything is applied and available; otherwise something is still missing.
    """
    if settled:
        return _grown(_UNSETTLED_MOST, _SETTLED_GROWTH, attempt, most=_SETTLED_MOST)
    return _grown(_UNSETTLED_FIRST, _UNSETTLED_GROWTH, attempt, most=_UNSETTLED_MOST)


def repair_pause(repairs: int) -> timedelta:
    """Return how long to leave drift alone after so many repairs in a row (0: none yet).

    The time grows, because a writer that undoes what the agent applies will do so again.
    """
    if repairs == 0:
        return timedelta(0)
    return _grown(_REPAIR_FIRST, _REPAIR_GROWTH, repairs, most=_REPAIR_MOST)


def _grown(first: timedelta, growth: float, attempt: int, *, most: timedelta) -> timedelta:
    return min(first * growth ** min(attempt - 1, _ENOUGH), most)
