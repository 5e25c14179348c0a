"""The table of all condition reasons, for commands and documentation: meaning and remedy."""

from types import MappingProxyType
from typing import Final

from starter.explain.reasons import of_bindings, of_members, of_placements, of_runs, of_works
from starter.explain.reasons.entries import Holder, ReasonEntry

ALL: Final = (
    *of_runs.ENTRIES,
    *of_bindings.ENTRIES,
    *of_works.ENTRIES,
    *of_placements.ENTRIES,
    *of_members.ENTRIES,
)
"""Every reason that fleetgate writes, in the order in which a rollout reaches them."""

_FOUND: Final = MappingProxyType({(each.kind, each.condition, each.reason): each for each in ALL})


def find(kind: Holder, *, condition: str, reason: str) -> ReasonEntry | None:
    """Return the entry of a condition's type and reason; None if fleetgate does not write it."""
    return _FOUND.get((kind, condition, reason))
