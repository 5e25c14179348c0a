"""What policy snapshots and their decisions say.

contract: placement 4
"""

from enum import StrEnum


class SchedulingReason(StrEnum):
    """Reasons of the condition Scheduled of a policy snapshot."""

    FULFILLED = "SchedulingPolicyFulfilled"
    UNFULFILLED = "SchedulingPolicyUnfulfilled"


def found_all(count: int) -> str:
    """As many clusters were found as the policy wants."""
    return (
        f"found all cluster needed as specified by the scheduling policy, found {count} cluster(s)"
    )


def found_some(count: int) -> str:
    """Fewer clusters were found than the policy wants."""
    return (
        "could not find all clusters needed as specified by the scheduling policy,"
        f" found {count} cluster(s) instead"
    )


def picked(cluster: str, *, affinity_score: int, spread_score: int) -> str:
    """Why a policy of type PickAll or PickN picked a cluster."""
    return (
        f'Successfully scheduled resources for placement in "{cluster}" (affinity score:'
        f" {affinity_score}, topology spread score: {spread_score}): picked by scheduling policy"
    )


def picked_by_name(cluster: str) -> str:
    """Why a policy of type PickFixed picked a cluster."""
    return (
        f'Successfully scheduled resources for placement in "{cluster}":'
        " picked by scheduling policy"
    )


def not_found(cluster: str) -> str:
    """A policy of type PickFixed names a cluster that is not in the fleet."""
    return f'Specified cluster "{cluster}" is not found'


def not_eligible(cluster: str, *, why: str) -> str:
    """A policy of type PickFixed names a cluster that nothing can be placed on now."""
    return f'Cluster "{cluster}" is not eligible for resource placement yet: {why}'


def score_too_low(cluster: str, *, affinity_score: int, spread_score: int) -> str:
    """A policy of type PickN preferred other clusters."""
    return (
        f'Cluster "{cluster}" does not score high enough (affinity score: {affinity_score},'
        f" topology spread score: {spread_score})"
    )


def unschedulable(why: str) -> str:
    """A policy may not pick the cluster."""
    return f"ClusterUnschedulable, {why}"


class Unsuitable(StrEnum):
    """Why a policy may not pick a cluster; two more causes have names in them."""

    UNATTRACTED = "cluster does not match with any of the required cluster affinity terms"
    NAMESPACES_UNKNOWN = "cluster has no namespace information available"
    NAMESPACE_MISSING = "target namespace does not exist on cluster"


def untolerated(*, key: str, value: str, effect: str) -> str:
    """The cluster has a taint that the policy does not put up with."""
    return f"taint &{{Key:{key} Value:{value} Effect:{effect}}} cannot be tolerated"


def unbalanced(topology_key: str, *, max_skew: int) -> str:
    """With the cluster the picked ones would be spread too unevenly."""
    return (
        f'violated doNotSchedule topology spread constraint "{topology_key}" (max skew {max_skew})'
    )


class Ineligible(StrEnum):
    """Why nothing can be placed on a cluster now; two more causes have numbers in them."""

    LEFT = "cluster has left the fleet"
    NEVER_ONLINE = "cluster is not connected to the fleet: member agent not online yet"
    NOT_JOINED = "cluster is not connected to the fleet: member agent not joined yet"
    HEALTH_UNKNOWN = (
        "cluster is not connected to the fleet: health condition from member agent is not available"
    )


def heartbeat_missing(minutes: float) -> str:
    """The member's agent has been silent for so long."""
    return (
        "cluster is not connected to the fleet: no recent heartbeat signals"
        f" (last received {minutes:.2f} minutes ago)"
    )


def unhealthy(minutes: float) -> str:
    """The member has been unhealthy for so long."""
    return (
        "cluster is not connected to the fleet: unhealthy for a prolonged period of time"
        f" (last transitioned {minutes:.2f} minutes ago)"
    )
