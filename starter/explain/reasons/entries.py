"""The shape of the explanation of a condition's reason."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Holder(StrEnum):
    """What a condition is about."""

    RUN = "run"
    STAGE = "stage"
    CLUSTER = "cluster of a run"
    REPORT = "cluster in a rollout report"
    """Its reasons are not those of a condition."""
    GATE = "gate"
    APPROVAL = "approval request"
    BINDING = "binding"
    """A placement's status repeats a binding's conditions for the binding's cluster."""
    WORK = "Work"
    MANIFEST = "manifest of a Work"
    """Also for the condition in an entry of failedPlacements."""
    POLICY = "policy snapshot"
    PLACEMENT = "placement"
    """The types of its conditions are prefixed with the kind."""
    PLACED = "cluster of a placement"
    MEMBER = "member cluster"
    AGENT = "agent of a member cluster"


@dataclass(frozen=True, slots=True)
class ReasonEntry:
    """Explanation of a condition's reason, and what to do about it."""

    kind: Holder
    condition: str
    """Type of the condition; empty in a report."""
    reason: str
    cause: str
    """What the reason means, in whole sentences."""
    fix: str
    """What to do, in whole sentences."""


NOTHING: Final = "Nothing to do."
"""What to do about what is as it should be."""
WAIT: Final = "Nothing to do: this resolves itself within moments."
"""What to do about what is in progress."""
