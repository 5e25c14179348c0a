"""Picking every eligible cluster (contract: placement 2.2, 4)."""

from collections.abc import Sequence

from api.policies import ClusterDecision, ClusterScore
from api.reasons import picked
from api.scheduling import PlacementPolicy
from planning.placements.eligibility import Candidate
from planning.placements.scheduling.filters import left_out, why_not
from planning.placements.scheduling.model import Held, Schedule


def pick_all(
    policy: PlacementPolicy, fleet: Sequence[Candidate], held: Held, namespace: str
) -> Schedule:
    """Pick all clusters that the policy may pick, and keep those that it picked before."""
    taken, left = [], []
    for each in fleet:
        stays = each.name in held.current and not each.leaving
        why = "" if stays else why_not(each, policy, held, namespace)
        if why:
            left.append(left_out(each, why))
        else:
            taken.append(_taken(each.name))
    return Schedule(tuple(taken), tuple(left), fulfilled=True)


def _taken(cluster: str) -> ClusterDecision:
    return ClusterDecision(
        cluster_name=cluster,
        selected=True,
        cluster_score=ClusterScore(affinity_score=0, priority_score=0),
        reason=picked(cluster, affinity_score=0, spread_score=0),
    )
