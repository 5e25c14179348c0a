"""The table of all condition reasons, for commands and documentation: meaning and remedy."""

from types import MappingProxyType
from typing import Final

from planning.explaining import (
    binding_reasons,
    member_reasons,
    placement_reasons,
    run_reasons,
    work_reasons,
)
from planning.explaining.entries import Entry, Holder

ALL: Final = (
    *run_reasons.ENTRIES,
    *binding_reasons.ENTRIES,
    *work_reasons.ENTRIES,
    *placement_reasons.ENTRIES,
    *member_reasons.ENTRIES,
)
"""Every reason that fleetgate writes, in the order in which a rollout reaches them."""

_FOUND: Final = MappingProxyType({(each.kind, each.condition, each.reason): each for each in ALL})


def find(kind: Holder, *, condition: str, reason: str) -> Entry | None:
    """Return the entry of a condition's type and reason; None if fleetgate does not write it."""
    return _FOUND.get((kind, condition, reason))
