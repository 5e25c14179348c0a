"""What goes into a scheduling decision besides policy and fleet, and what comes out.

contract: placement 4
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from api.policies import ClusterDecision

MAX_UNPICKED: Final = 20
"""Decisions against a cluster that are listed (contract: placement 4)."""
MAX_DECISIONS: Final = 1000
"""What a policy snapshot can hold."""


@dataclass(frozen=True, slots=True)
class Holding:
    """A cluster that the latest policy has picked already, as its binding has it."""

    decision: ClusterDecision
    """Why it was picked, with the scores of that time."""
    bound: bool
    """Whether anything has been rolled out to it."""


@dataclass(frozen=True, slots=True)
class Held:
    """Clusters that the placement has a binding on already, Scheduled or Bound."""

    current: Mapping[str, Holding] = field(default_factory=dict)
    """Picked by the same policy: kept whatever became of the cluster's labels and taints."""
    earlier: frozenset[str] = frozenset()
    """Picked by an earlier policy: judged again, but not dropped because its agent is away."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """What a policy decides about the fleet."""

    picked: tuple[ClusterDecision, ...]
    unpicked: tuple[ClusterDecision, ...]
    fulfilled: bool

    @property
    def decisions(self) -> list[ClusterDecision]:
        """What the policy snapshot lists: the picked clusters, then some of the others."""
        listed = [*self.picked, *self.unpicked[:MAX_UNPICKED]]
        return listed[:MAX_DECISIONS]
