"""Picking: which clusters of a fleet a policy of each placement type picks, and why not the others.

contract: placement 2.2, 4, 12 (namespaces)
"""

import heapq
import itertools
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from api.members import Taint
from api.policies import ClusterDecision, ClusterScore
from api.reasons import (
    Unsuitable,
    not_eligible,
    not_found,
    picked,
    picked_by_name,
    score_too_low,
    unschedulable,
    untolerated,
)
from api.scheduling import PlacementPolicy, Toleration, TolerationOperator
from planning.placements.eligibility import Candidate
from planning.placements.scheduling import affinity
from planning.placements.scheduling.affinity import Preferences
from planning.placements.scheduling.spread import Spread

# -- input of scheduling besides policy and fleet, and its result -------------------------

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


# -- filters: which clusters may not be picked, and why; one function per reason ----------


def _why_not(cluster: Candidate, policy: PlacementPolicy, held: Held, namespace: str) -> str:
    """Return the first reason, in KubeFleet's order, not to pick the cluster; empty for none."""
    return (
        _unattracted(cluster, policy)
        or _away(cluster, held)
        or _untolerated(cluster.taints, policy.tolerations)
        or _homeless(cluster, namespace)
    )


def _away(cluster: Candidate, held: Held) -> str:
    """Return why nothing can be placed on the cluster now; empty if it is eligible or held."""
    # Objects on a cluster are not removed because its agent is silent for a while.
    is_held = cluster.name in held.current or cluster.name in held.earlier
    return "" if is_held and not cluster.leaving else cluster.ineligible


def _left_out(cluster: Candidate, why: str) -> ClusterDecision:
    """Return the decision against a cluster that may not be picked."""
    return ClusterDecision(cluster_name=cluster.name, selected=False, reason=unschedulable(why))


def _unattracted(cluster: Candidate, policy: PlacementPolicy) -> str:
    terms = affinity.required_terms(policy)
    if not terms or any(affinity.meets(term, cluster) for term in terms):
        return ""
    return Unsuitable.UNATTRACTED


def _untolerated(taints: Iterable[Taint], tolerations: Collection[Toleration]) -> str:
    for taint in taints:
        if not any(_tolerates(each, taint) for each in tolerations):
            return untolerated(key=taint.key, value=taint.value, effect=taint.effect)
    return ""


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    # Effects need no comparison: NoSchedule is the only one.
    if toleration.operator == TolerationOperator.EXISTS:
        return not toleration.key or toleration.key == taint.key
    return (toleration.key, toleration.value) == (taint.key, taint.value)


def _homeless(cluster: Candidate, namespace: str) -> str:
    # If namespaces are not collected, every member is accepted (contract: placement 12).
    if not namespace or cluster.namespaces is None or namespace in cluster.namespaces:
        return ""
    return Unsuitable.NAMESPACE_MISSING if cluster.namespaces else Unsuitable.NAMESPACES_UNKNOWN


# -- PickAll: every eligible cluster ------------------------------------------------------


def pick_all(
    policy: PlacementPolicy, fleet: Sequence[Candidate], held: Held, namespace: str
) -> Schedule:
    """Pick all clusters that the policy may pick, and keep those that it picked before."""
    taken, left = [], []
    for each in fleet:
        stays = each.name in held.current and not each.leaving
        why = "" if stays else _why_not(each, policy, held, namespace)
        if why:
            left.append(_left_out(each, why))
        else:
            taken.append(_taken_by_all(each.name))
    return Schedule(tuple(taken), tuple(left), fulfilled=True)


def _taken_by_all(cluster: str) -> ClusterDecision:
    return ClusterDecision(
        cluster_name=cluster,
        selected=True,
        cluster_score=ClusterScore(affinity_score=0, priority_score=0),
        reason=picked(cluster, affinity_score=0, spread_score=0),
    )


# -- PickFixed: the clusters that a policy names ------------------------------------------


def pick_fixed(
    policy: PlacementPolicy, fleet: Sequence[Candidate], held: Held, namespace: str
) -> Schedule:
    """Pick the named clusters that exist and are eligible; labels and taints do not matter."""
    del namespace  # A named cluster is picked whatever namespaces it has.
    known = {each.name: each for each in fleet}
    verdicts = {name: _why_not_named(name, known, held) for name in policy.cluster_names}
    taken = [
        ClusterDecision(cluster_name=name, selected=True, reason=picked_by_name(name))
        for name, why in verdicts.items()
        if not why
    ]
    left = [
        ClusterDecision(cluster_name=name, selected=False, reason=why)
        for name, why in verdicts.items()
        if why
    ]
    return Schedule(tuple(taken), tuple(left), fulfilled=not left)


def _why_not_named(name: str, known: Mapping[str, Candidate], held: Held) -> str:
    if name not in known:
        return not_found(name)
    why = _away(known[name], held)
    return not_eligible(name, why=why) if why else ""


# -- PickN: the best clusters, as many as the policy asks for -----------------------------


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
        each.name: _why_not(each, policy, held, namespace)
        for each in fleet
        if each.name not in kept
    }
    others = [each for each in fleet if each.name in verdicts]
    contest = _Contest(
        [each for each in others if not verdicts[each.name]],
        spread=Spread(policy.topology_spread_constraints, fleet, picked=kept),
        preferences=affinity.preferences(policy, fleet),
        held=held,
    )
    taken = [each.decision for each in kept.values()] + contest.pick(wanted - len(kept))
    excluded = [_left_out(each, verdicts[each.name]) for each in others if verdicts[each.name]]
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
        return [_left_out(each, why) for each, why in causes if why]

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
