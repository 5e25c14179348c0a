"""Which clusters a placement's policy picks, and why it picks no others.

Each placement type is one module (`pick_all`, `pick_n`, `pick_fixed`); what they share is in
`filters` (who may not be picked), `affinity` and `spread` (who is rather picked).

contract: placement 2.2, 4
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from api.scheduling import PlacementPolicy, PlacementType
from planning.placements.eligibility import Candidate
from planning.placements.scheduling.model import (
    MAX_DECISIONS,
    MAX_UNPICKED,
    Held,
    Holding,
    Schedule,
)
from planning.placements.scheduling.pick_all import pick_all
from planning.placements.scheduling.pick_fixed import pick_fixed
from planning.placements.scheduling.pick_n import pick_n
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

    What is placed stays, and nothing is decided: `Scheduled` of the placement is Unknown.
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

    `namespace` is that of a ResourcePlacement, which must exist on the member if that is known.
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
