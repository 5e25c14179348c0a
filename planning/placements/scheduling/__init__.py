"""Scheduling: which clusters a placement's policy picks, and when that has to be decided again.

`picking` has one function per placement type; `affinity` and `spread` tell which clusters are
preferred.

contract: placement 2.2, 4
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from api.scheduling import PlacementPolicy, PlacementType
from planning.placements.eligibility import Candidate
from planning.placements.scheduling import affinity
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


# -- whether a change of a member can change a policy's decisions -------------------------
#
# Members report every minute, and there are many placements: each is scheduled again only if the
# change concerns its policy.


def matters(
    policy: PlacementPolicy | None,
    old: Candidate | None,
    new: Candidate | None,
    *,
    fulfilled: bool,
) -> bool:
    """Return whether to schedule again, now that a member has changed.

    `fulfilled` says that the policy has all the clusters that it asks for: then changed members do
    not matter to it, unless it picks all clusters.
    """
    policy = policy or PlacementPolicy()
    if old is None or new is None or old.leaving != new.leaving:
        return _is_about(policy, old or new)
    if policy.placement_type == PlacementType.PICK_FIXED:
        return not fulfilled and _is_about(policy, new) and old.ineligible != new.ineligible
    if _setup(old) != _setup(new):
        return True
    if fulfilled and policy.placement_type == PlacementType.PICK_N:
        return False
    return old.ineligible != new.ineligible or any(
        old.properties.get(name) != new.properties.get(name) for name in _properties(policy)
    )


def _is_about(policy: PlacementPolicy, member: Candidate | None) -> bool:
    # An empty list keeps what an earlier one has picked, which may be any cluster.
    if policy.placement_type != PlacementType.PICK_FIXED or not policy.cluster_names:
        return True
    return member is not None and member.name in policy.cluster_names


def _setup(member: Candidate) -> tuple[object, ...]:
    """Return what users, not agents, set on a member, and the namespaces on it."""
    return member.labels, member.taints, member.namespaces


def _properties(policy: PlacementPolicy) -> set[str]:
    """Return the properties that decide whether and how early the policy picks a cluster."""
    selectors = [each.property_selector for each in affinity.required_terms(policy)]
    required = {each.name for found in selectors if found for each in found.match_expressions}
    if policy.placement_type != PlacementType.PICK_N:
        return required
    sorters = [each.preference.property_sorter for each in affinity.preferred_terms(policy)]
    return required | {each.name for each in sorters if each}
