"""Spreading the picked clusters evenly over the values of a label.

contract: placement 2.2 (topologySpreadConstraints), 4 (topology spread score)
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import Final

from api.reasons import unbalanced
from api.scheduling import TopologySpreadConstraint, UnsatisfiableConstraintAction
from planning.placements.eligibility import Candidate

_PENALTY: Final = 1000
"""Points that a cluster loses if it would violate a constraint that may be violated, as in
KubeFleet: more than evenness can earn, so that such a cluster is the last choice."""


class Spread:
    """Counts of the clusters picked so far, by the values of the constraints' labels."""

    def __init__(
        self,
        constraints: Iterable[TopologySpreadConstraint],
        fleet: Sequence[Candidate],
        *,
        picked: Collection[str],
    ) -> None:
        self._domains = [_Domains(each, fleet, picked=picked) for each in constraints]

    def add(self, cluster: Candidate) -> None:
        """Count one more picked cluster."""
        for each in self._domains:
            each.add(cluster)

    def position(self, cluster: Candidate) -> Hashable:
        """Return the cluster's label values; clusters with equal ones are equal for spreading."""
        return tuple(each.value(cluster) for each in self._domains)

    def score(self, cluster: Candidate) -> int:
        """Return the points for evenness that the cluster would earn as the next pick."""
        return sum(each.score(cluster) for each in self._domains)

    def violation(self, cluster: Candidate) -> str:
        """Return why the cluster may not be the next pick; empty if it may."""
        return next(filter(None, (each.violation(cluster) for each in self._domains)), "")


class _Domains:
    """Counts of one constraint: the number of picked clusters per value of its label.

    A value counts as long as any member has it, even one that cannot be picked; clusters without
    the label are ignored. Both as in KubeFleet.
    """

    def __init__(
        self,
        constraint: TopologySpreadConstraint,
        fleet: Sequence[Candidate],
        *,
        picked: Collection[str],
    ) -> None:
        self._key = constraint.topology_key
        self._max_skew = constraint.max_skew
        action = constraint.when_unsatisfiable
        self._is_strict = action == UnsatisfiableConstraintAction.DO_NOT_SCHEDULE
        self._counts: Counter[str] = Counter()
        for cluster in fleet:
            if self._key in cluster.labels:
                self._counts[cluster.labels[self._key]] += cluster.name in picked
        self._weigh()

    def value(self, cluster: Candidate) -> str | None:
        return cluster.labels.get(self._key)

    def add(self, cluster: Candidate) -> None:
        if self._key in cluster.labels:
            self._counts[cluster.labels[self._key]] += 1
            self._weigh()

    def score(self, cluster: Candidate) -> int:
        if self._key not in cluster.labels:
            return 0
        change = self._skew_change(cluster)
        return -_PENALTY if self._skew + change > self._max_skew else -change

    def violation(self, cluster: Candidate) -> str:
        if not self._is_strict or self._key not in cluster.labels:
            return ""
        if self._skew + self._skew_change(cluster) <= self._max_skew:
            return ""
        return unbalanced(self._key, max_skew=self._max_skew)

    def _weigh(self) -> None:
        counts = self._counts.values()
        self._least, self._most = min(counts, default=0), max(counts, default=0)
        self._emptiest = sum(count == self._least for count in counts)
        self._skew = self._most - self._least

    def _skew_change(self, cluster: Candidate) -> int:
        """Return by how much the cluster would change the skew, the largest minus least count."""
        count = self._counts[cluster.labels[self._key]]
        if count == self._most:
            return 1
        return -1 if count == self._least and self._emptiest == 1 else 0
