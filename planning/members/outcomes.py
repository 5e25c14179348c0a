"""What became of the manifests of a Work, before it is put into words.

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
    """What became of one manifest."""

    identifier: WorkResourceIdentifier
    refusal: Refusal | None = None
    """Why nothing was done; None when it was."""
    finding: ManifestReason = ManifestReason.APPLIED
    """What was done or found if nothing was refused."""
    is_there: bool = True
    """Whether the member has the object."""
    generation: int = 0
    """Generation of the object on the member; 0 when it is absent or of a kind without."""
    availability: Availability = Availability.NOT_YET
    """Counts only once the manifest is applied."""
    drifts: Sequence[PatchDetail] = ()
    """How an object of the Work was changed on the member."""
    diffs: Sequence[PatchDetail] = ()
    """How an object that the Work does not own, or only compares, differs."""
    status: Mapping[str, Any] | None = None
    """What the object says of itself; None for a kind without, or one that is not applied."""
    compared_at: datetime | None = None
    """When drifts and diffs were found."""

    @property
    def is_applied(self) -> bool:
        """Whether the member has the object as the manifest says."""
        return self.refusal is None and self.finding in _APPLIED

    @property
    def is_compared(self) -> bool:
        """Whether it is known how the object differs, and nothing more was wanted."""
        return self.refusal is None and self.finding in _COMPARED

    @property
    def is_available(self) -> bool:
        """Whether the object is applied and, as far as one can tell, does its work."""
        return self.is_applied and self.availability is not Availability.NOT_YET

    @property
    def is_held_back(self) -> bool:
        """Whether the strategy says to leave the object as it is until somebody changes it."""
        if self.refusal is None:
            return False
        left_alone = self.refusal.reason is ManifestReason.NOT_TAKEN_OVER
        return left_alone or bool(self.drifts or self.diffs)

    @property
    def is_settled(self) -> bool:
        """Whether there is nothing to wait for or to try again unless the object changes."""
        return self.is_available or self.is_compared or self.is_held_back


def is_settled(outcomes: Iterable[Outcome]) -> bool:
    """Whether nothing is left to wait for or to try again."""
    return all(outcome.is_settled for outcome in outcomes)
