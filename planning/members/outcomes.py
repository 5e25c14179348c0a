"""Results of processing the manifests of a Work, from which conditions are made.

contract: placement 8
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
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
class Outcome:
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


def is_settled(outcomes: Iterable[Outcome]) -> bool:
    """Return whether nothing is left to wait for or retry."""
    return all(outcome.is_settled for outcome in outcomes)
