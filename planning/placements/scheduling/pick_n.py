"""Picking the best clusters, as many as the policy asks for (contract: placement 2.2, 4)."""

import heapq
import itertools
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple

from api.policies import ClusterDecision, ClusterScore
from api.reasons import picked, score_too_low
from api.scheduling import PlacementPolicy
from planning.placements.eligibility import Candidate
from planning.placements.scheduling import affinity
from planning.placements.scheduling.affinity import Preferences
from planning.placements.scheduling.filters import left_out, why_not
from planning.placements.scheduling.model import MAX_UNPICKED, Held, Holding, Schedule
from planning.placements.scheduling.spread import Spread


class _Rank(NamedTuple):
    """Rank of a cluster among others; the first field that differs decides."""

    spread_score: int
    affinity_score: int
    is_held: bool
    """An earlier policy picked it: among equals, clusters with placed objects are preferred."""
    name: str
    """The last name wins (contract decision 14)."""


def pick_n(
    policy: PlacementPolicy, fleet: Sequence[Candidate], held: Held, namespace: str
) -> Schedule:
    """Keep the clusters that the policy picked before, then add or drop as many as needed."""
    wanted = policy.number_of_clusters or 0
    kept = _kept(fleet, held, wanted=wanted)
    verdicts = {
        each.name: why_not(each, policy, held, namespace) for each in fleet if each.name not in kept
    }
    others = [each for each in fleet if each.name in verdicts]
    contest = _Contest(
        [each for each in others if not verdicts[each.name]],
        spread=Spread(policy.topology_spread_constraints, fleet, picked=kept),
        preferences=affinity.preferences(policy, fleet),
        held=held,
    )
    taken = [each.decision for each in kept.values()] + contest.pick(wanted - len(kept))
    excluded = [left_out(each, verdicts[each.name]) for each in others if verdicts[each.name]]
    return Schedule(
        picked=tuple(sorted(taken, key=_score, reverse=True)),
        unpicked=(*contest.beaten(), *excluded, *contest.unbalanced()),
        fulfilled=len(taken) >= wanted,
    )


def _kept(fleet: Sequence[Candidate], held: Held, *, wanted: int) -> dict[str, Holding]:
    """Return the clusters to keep: all of them, or the best ones if there are too many.

    Clusters to which nothing has been rolled out are dropped first.
    """
    staying = {
        each.name: held.current[each.name]
        for each in fleet
        if each.name in held.current and not each.leaving
    }
    worst_first = sorted(
        staying, key=lambda name: (staying[name].bound, _score(staying[name].decision))
    )
    surplus = max(0, len(staying) - wanted)
    return {name: staying[name] for name in worst_first[surplus:]}


def _score(decision: ClusterDecision) -> tuple[int, int, str]:
    score = decision.cluster_score or ClusterScore()
    return score.priority_score, score.affinity_score, decision.cluster_name


class _Contest:
    """Clusters that are not picked yet, from which one is picked at a time."""

    def __init__(
        self,
        clusters: Sequence[Candidate],
        *,
        spread: Spread,
        preferences: Preferences,
        held: Held,
    ) -> None:
        self._spread = spread
        self._held = held
        self._affinity_scores = {each.name: preferences.score(each) for each in clusters}
        self._groups = self._grouped(clusters)

    def _grouped(self, clusters: Iterable[Candidate]) -> list[list[Candidate]]:
        """Group the clusters that are equal for spreading, the best of each group last.

        Then only one cluster of each group has to be considered for each pick.
        """
        groups: dict[Hashable, list[Candidate]] = {}
        for each in sorted(clusters, key=self._rank):
            groups.setdefault(self._spread.position(each), []).append(each)
        return list(groups.values())

    def pick(self, count: int) -> list[ClusterDecision]:
        """Pick up to `count` clusters, each as the best addition to those before it."""
        taken: list[ClusterDecision] = []
        while len(taken) < count:
            allowed = [each for each in self._groups if not self._spread.violation(each[-1])]
            if not allowed:
                break
            group = max(allowed, key=lambda each: self._rank(each[-1]))
            taken.append(_taken(self._rank(group[-1])))
            self._spread.add(group.pop())
            self._groups = [each for each in self._groups if each]
        return taken

    def beaten(self) -> list[ClusterDecision]:
        """Return decisions against clusters that rank lower than the picked ones, best first."""
        ranks = (self._rank(each) for each in self._left() if not self._spread.violation(each))
        return [_beaten(each) for each in heapq.nlargest(MAX_UNPICKED, ranks)]

    def unbalanced(self) -> list[ClusterDecision]:
        """Return decisions against clusters that would violate a spread constraint."""
        causes = ((each, self._spread.violation(each)) for each in self._left())
        return [left_out(each, why) for each, why in causes if why]

    def _left(self) -> Iterator[Candidate]:
        return itertools.chain.from_iterable(self._groups)

    def _rank(self, cluster: Candidate) -> _Rank:
        return _Rank(
            spread_score=self._spread.score(cluster),
            affinity_score=self._affinity_scores[cluster.name],
            is_held=cluster.name in self._held.earlier,
            name=cluster.name,
        )


def _taken(rank: _Rank) -> ClusterDecision:
    return _decision(
        rank,
        selected=True,
        reason=picked(
            rank.name, affinity_score=rank.affinity_score, spread_score=rank.spread_score
        ),
    )


def _beaten(rank: _Rank) -> ClusterDecision:
    return _decision(
        rank,
        selected=False,
        reason=score_too_low(
            rank.name, affinity_score=rank.affinity_score, spread_score=rank.spread_score
        ),
    )


def _decision(rank: _Rank, *, selected: bool, reason: str) -> ClusterDecision:
    score = ClusterScore(affinity_score=rank.affinity_score, priority_score=rank.spread_score)
    return ClusterDecision(
        cluster_name=rank.name, selected=selected, cluster_score=score, reason=reason
    )
