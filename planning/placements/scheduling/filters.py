"""Filters: which clusters may not be picked, and why; one function per reason.

contract: placement 2.2, 4 (filtered), 12 (namespaces)
"""

from collections.abc import Collection, Iterable

from api.members import Taint
from api.policies import ClusterDecision
from api.reasons import Unsuitable, unschedulable, untolerated
from api.scheduling import PlacementPolicy, Toleration, TolerationOperator
from planning.placements.eligibility import Candidate
from planning.placements.scheduling import affinity
from planning.placements.scheduling.model import Held


def why_not(cluster: Candidate, policy: PlacementPolicy, held: Held, namespace: str) -> str:
    """Return the first reason, in KubeFleet's order, not to pick the cluster; empty for none."""
    return (
        _unattracted(cluster, policy)
        or away(cluster, held)
        or _untolerated(cluster.taints, policy.tolerations)
        or _homeless(cluster, namespace)
    )


def away(cluster: Candidate, held: Held) -> str:
    """Return why nothing can be placed on the cluster now; empty if it is eligible or held."""
    # Objects on a cluster are not removed because its agent is silent for a while.
    is_held = cluster.name in held.current or cluster.name in held.earlier
    return "" if is_held and not cluster.leaving else cluster.ineligible


def left_out(cluster: Candidate, why: str) -> ClusterDecision:
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
