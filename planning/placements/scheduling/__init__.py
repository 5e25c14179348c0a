"""Scheduling: which clusters a placement's policy picks, and why not the others.

`picking` has one function per placement type; `affinity` and `spread` tell which clusters are
preferred.

contract: placement 2.2, 4
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from api.scheduling import PlacementPolicy, PlacementType
from planning.placements.eligibility import Candidate
from planning.placements.scheduling.picking import (
    MAX_DECISIONS,
    MAX_UNPICKED,
    Held,
    Holding,
    Schedule,
    pick_all,
    pick_fixed,
    pick_n,
)
from planning.placements.scheduling.relevance import matters

__all__ = [
    "MAX_DECISIONS",
    "MAX_UNPICKED",
    "Held",
    "Holding",
    "Schedule",
    "matters",
    "names_no_cluster",
    "schedule",
]


def names_no_cluster(policy: PlacementPolicy | None) -> bool:
    """Return whether the policy is PickFixed with an empty list, which KubeFleet never schedules.

    Placed objects stay, and nothing is decided: the placement's condition `Scheduled` is Unknown.
    """
    fixed = policy is not None and policy.placement_type == PlacementType.PICK_FIXED
    return policy is not None and fixed and not policy.cluster_names


def schedule(
    policy: PlacementPolicy | None,
    fleet: Iterable[Candidate],
    *,
    held: Held,
    namespace: str = "",
) -> Schedule:
    """Decide which clusters are picked.

    `namespace` is a ResourcePlacement's; it must exist on members whose namespaces are known.
    """
    policy = policy or PlacementPolicy()
    ordered = sorted(fleet, key=lambda each: each.name)
    return _TYPES[policy.placement_type](policy, ordered, held, namespace)


_Decide = Callable[[PlacementPolicy, Sequence[Candidate], Held, str], Schedule]
_TYPES: Final[Mapping[str, _Decide]] = {
    PlacementType.PICK_ALL: pick_all,
    PlacementType.PICK_FIXED: pick_fixed,
    PlacementType.PICK_N: pick_n,
}
