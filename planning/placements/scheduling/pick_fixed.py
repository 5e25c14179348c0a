"""Picking the clusters that a policy names (contract: placement 2.2, 4)."""

from collections.abc import Mapping, Sequence

from api.policies import ClusterDecision
from api.reasons import not_eligible, not_found, picked_by_name
from api.scheduling import PlacementPolicy
from planning.placements.eligibility import Candidate
from planning.placements.scheduling.filters import away
from planning.placements.scheduling.model import Held, Schedule


def pick_fixed(
    policy: PlacementPolicy, fleet: Sequence[Candidate], held: Held, namespace: str
) -> Schedule:
    """Pick the named clusters that exist and are eligible; labels and taints do not matter."""
    del namespace  # A named cluster is picked whatever namespaces it has.
    known = {each.name: each for each in fleet}
    verdicts = {name: _why_not(name, known, held) for name in policy.cluster_names}
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


def _why_not(name: str, known: Mapping[str, Candidate], held: Held) -> str:
    if name not in known:
        return not_found(name)
    why = away(known[name], held)
    return not_eligible(name, why=why) if why else ""
