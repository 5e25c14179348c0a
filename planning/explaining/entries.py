"""The shape of an explanation of one condition reason."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Holder(StrEnum):
    """What a condition is about."""

    RUN = "run"
    STAGE = "stage"
    CLUSTER = "cluster of a run"
    GATE = "gate"
    APPROVAL = "approval request"
    BINDING = "binding"
    """A placement repeats what a binding says in its status, for the binding's cluster."""
    WORK = "Work"
    MANIFEST = "manifest of a Work"
    """Also the condition in an entry of failedPlacements."""
    POLICY = "policy snapshot"
    PLACEMENT = "placement"
    """Its conditions' types have the kind's name in front."""
    PLACED = "cluster of a placement"
    MEMBER = "member cluster"
    AGENT = "agent of a member cluster"


@dataclass(frozen=True, slots=True)
class Entry:
    """What a reason of a condition means, and what to do about it."""

    kind: Holder
    condition: str
    """Type of the condition."""
    reason: str
    cause: str
    """What is the case, in whole sentences."""
    cure: str
    """What to do, in whole sentences."""


NOTHING: Final = "Nothing to do."
"""The cure of what is well."""
WAIT: Final = "Nothing to do: this passes by itself within moments."
"""The cure of what is on its way."""
