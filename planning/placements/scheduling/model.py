"""Input of scheduling besides policy and fleet, and its result.

contract: placement 4
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from api.policies import ClusterDecision

MAX_UNPICKED: Final = 20
"""Decisions against clusters that are listed (contract: placement 4)."""
MAX_DECISIONS: Final = 1000
"""Decisions that a policy snapshot can hold."""


@dataclass(frozen=True, slots=True)
class Holding:
    """A cluster that the latest policy has already picked, as its binding records it."""

    decision: ClusterDecision
    """Why it was picked, with the scores at that time."""
    bound: bool
    """True when something has been rolled out to it."""


@dataclass(frozen=True, slots=True)
class Held:
    """Clusters for which the placement already has a binding, Scheduled or Bound."""

    current: Mapping[str, Holding] = field(default_factory=dict)
    """Picked by the same policy: kept even if the cluster's labels or taints have changed."""
    earlier: frozenset[str] = frozenset()
    """Picked by an earlier policy: judged again, but not dropped for a silent agent."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Decisions of a policy about the fleet."""

    picked: tuple[ClusterDecision, ...]
    unpicked: tuple[ClusterDecision, ...]
    fulfilled: bool

    @property
    def decisions(self) -> list[ClusterDecision]:
        """Decisions that the policy snapshot lists: the picked clusters, then some others."""
        listed = [*self.picked, *self.unpicked[:MAX_UNPICKED]]
        return listed[:MAX_DECISIONS]
