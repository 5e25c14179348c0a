"""Which clusters a placement's policy picks, and why it picks no others.

Each placement type is one function in `_TYPES`; each reason to leave a cluster out is one
function in `_FILTERS`. PickN, property selectors and preferred terms have no entry yet: a
policy that needs them is not decided at all rather than decided wrongly.

contract: placement 2.2, 4
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from api.members import Taint
from api.policies import ClusterDecision, ClusterScore
from api.reasons import not_eligible, not_found, picked, picked_by_name, unschedulable
from api.scheduling import (
    ClusterAffinity,
    ClusterSelectorTerm,
    PlacementPolicy,
    PlacementType,
    Toleration,
    TolerationOperator,
)
from planning import selectors
from planning.placements.eligibility import Candidate

MAX_UNPICKED: Final = 20
"""Decisions against a cluster that are listed (contract: placement 4)."""
MAX_DECISIONS: Final = 1000
"""What a policy snapshot can hold."""


@dataclass(frozen=True, slots=True)
class Held:
    """Clusters that the placement has a binding on already, Scheduled or Bound."""

    current: frozenset[str] = frozenset()
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


def schedule(
    policy: PlacementPolicy | None,
    fleet: Iterable[Candidate],
    *,
    held: Held,
    namespace: str = "",
) -> Schedule | None:
    """Decide which clusters are picked; None when the policy needs what is not there yet.

    `namespace` is that of a ResourcePlacement, which must exist on the member if that is known.
    """
    policy = policy or PlacementPolicy()
    decide = _TYPES.get(policy.placement_type)
    if decide is None or not _understood(policy):
        return None
    ordered = sorted(fleet, key=lambda each: each.name)
    return decide(policy, ordered, held, namespace)


def _understood(policy: PlacementPolicy) -> bool:
    affinity = _affinity(policy)
    if affinity.preferred_during_scheduling_ignored_during_execution:
        return False
    return not any(term.property_selector for term in _required(affinity))


def _pick_all(
    policy: PlacementPolicy, fleet: Sequence[Candidate], held: Held, namespace: str
) -> Schedule:
    taken, left = [], []
    for each in fleet:
        why = _why_not(each, policy, held, namespace)
        if why:
            reason = unschedulable(why)
            left.append(ClusterDecision(cluster_name=each.name, selected=False, reason=reason))
        else:
            taken.append(_scored(each.name))
    return Schedule(tuple(taken), tuple(left), fulfilled=True)


def _scored(cluster: str) -> ClusterDecision:
    return ClusterDecision(
        cluster_name=cluster,
        selected=True,
        cluster_score=ClusterScore(affinity_score=0, priority_score=0),
        reason=picked(cluster, affinity_score=0, spread_score=0),
    )


def _pick_fixed(
    policy: PlacementPolicy, fleet: Sequence[Candidate], held: Held, namespace: str
) -> Schedule:
    del namespace  # A cluster that is named is taken, whatever is on it.
    known = {each.name: each for each in fleet}
    verdicts = {name: _why_not_fixed(name, known, held) for name in policy.cluster_names}
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


def _why_not_fixed(name: str, known: Mapping[str, Candidate], held: Held) -> str:
    if name not in known:
        return not_found(name)
    why = _left(known[name]) or _disconnected(known[name], held)
    return not_eligible(name, why=why) if why else ""


def _why_not(cluster: Candidate, policy: PlacementPolicy, held: Held, namespace: str) -> str:
    if not cluster.leaving and cluster.name in held.current:
        return ""
    return (
        _left(cluster)
        or _disconnected(cluster, held)
        or _untolerated(cluster.taints, policy.tolerations)
        or _unattracted(cluster, policy)
        or _homeless(cluster, namespace)
    )


def _left(cluster: Candidate) -> str:
    return cluster.ineligible if cluster.leaving else ""


def _disconnected(cluster: Candidate, held: Held) -> str:
    # Resources that run on a cluster are not taken away because its agent is silent for a while.
    return "" if cluster.name in held.current | held.earlier else cluster.ineligible


def _untolerated(taints: Iterable[Taint], tolerations: Collection[Toleration]) -> str:
    for taint in taints:
        if not any(_tolerates(each, taint) for each in tolerations):
            dump = f"&{{Key:{taint.key} Value:{taint.value} Effect:{taint.effect}}}"
            return f"taint {dump} cannot be tolerated"
    return ""


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    # The only effect there is, NoSchedule, never sets a toleration and a taint apart.
    if toleration.operator == TolerationOperator.EXISTS:
        return not toleration.key or toleration.key == taint.key
    return (toleration.key, toleration.value) == (taint.key, taint.value)


def _unattracted(cluster: Candidate, policy: PlacementPolicy) -> str:
    terms = _required(_affinity(policy))
    if not terms or any(_matches(term, cluster) for term in terms):
        return ""
    return "cluster does not match with any of the required cluster affinity terms"


def _matches(term: ClusterSelectorTerm, cluster: Candidate) -> bool:
    # A term without a label selector asks nothing of the labels.
    return term.label_selector is None or selectors.matches(term.label_selector, cluster.labels)


def _homeless(cluster: Candidate, namespace: str) -> str:
    # Without anybody who collects namespaces, every member is taken (contract: placement 12).
    if not namespace or not cluster.namespaces or namespace in cluster.namespaces:
        return ""
    return "target namespace does not exist on cluster"


def _affinity(policy: PlacementPolicy) -> ClusterAffinity:
    affinity = policy.affinity and policy.affinity.cluster_affinity
    return affinity or ClusterAffinity()


def _required(affinity: ClusterAffinity) -> list[ClusterSelectorTerm]:
    required = affinity.required_during_scheduling_ignored_during_execution
    return required.cluster_selector_terms if required else []


_Decide = Callable[[PlacementPolicy, Sequence[Candidate], Held, str], Schedule]
_TYPES: Final[Mapping[str, _Decide]] = {
    PlacementType.PICK_ALL: _pick_all,
    PlacementType.PICK_FIXED: _pick_fixed,
}
