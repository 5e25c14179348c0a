"""Reasons and messages of policy snapshots and their decisions.

contract: placement 4
"""

from enum import StrEnum


class SchedulingReason(StrEnum):
    """Reasons of the condition Scheduled of a policy snapshot."""

    FULFILLED = "SchedulingPolicyFulfilled"
    UNFULFILLED = "SchedulingPolicyUnfulfilled"


def found_all(count: int) -> str:
    """Return the message when as many clusters were found as the policy asks for."""
    return (
        f"found all cluster needed as specified by the scheduling policy, found {count} cluster(s)"
    )


def found_some(count: int) -> str:
    """Return the message when fewer clusters were found than the policy asks for."""
    return (
        "could not find all clusters needed as specified by the scheduling policy,"
        f" found {count} cluster(s) instead"
    )


def picked(cluster: str, *, affinity_score: int, spread_score: int) -> str:
    """Return why a policy of type PickAll or PickN picked a cluster."""
    return (
        f'Successfully scheduled resources for placement in "{cluster}" (affinity score:'
        f" {affinity_score}, topology spread score: {spread_score}): picked by scheduling policy"
    )


def picked_by_name(cluster: str) -> str:
    """Return why a policy of type PickFixed picked a cluster."""
    return (
        f'Successfully scheduled resources for placement in "{cluster}":'
        " picked by scheduling policy"
    )


def not_found(cluster: str) -> str:
    """Return the reason when a policy of type PickFixed names a cluster outside the fleet."""
    return f'Specified cluster "{cluster}" is not found'


def not_eligible(cluster: str, *, why: str) -> str:
    """Return the reason when a policy of type PickFixed names a cluster that is not eligible."""
    return f'Cluster "{cluster}" is not eligible for resource placement yet: {why}'


def score_too_low(cluster: str, *, affinity_score: int, spread_score: int) -> str:
    """Return the reason when a policy of type PickN preferred other clusters."""
    return (
        f'Cluster "{cluster}" does not score high enough (affinity score: {affinity_score},'
        f" topology spread score: {spread_score})"
    )


def unschedulable(why: str) -> str:
    """Return the reason when a policy may not pick a cluster."""
    return f"ClusterUnschedulable, {why}"


class Unsuitable(StrEnum):
    """Why a policy may not pick a cluster; two more causes have parameters."""

    UNATTRACTED = "cluster does not match with any of the required cluster affinity terms"
    NAMESPACES_UNKNOWN = "cluster has no namespace information available"
    NAMESPACE_MISSING = "target namespace does not exist on cluster"


def untolerated(*, key: str, value: str, effect: str) -> str:
    """Return the cause for a taint that the policy does not tolerate."""
    return f"taint &{{Key:{key} Value:{value} Effect:{effect}}} cannot be tolerated"


def unbalanced(topology_key: str, *, max_skew: int) -> str:
    """Return the cause when the cluster would break a topology spread constraint."""
    return (
        f'violated doNotSchedule topology spread constraint "{topology_key}" (max skew {max_skew})'
    )


class Ineligible(StrEnum):
    """Why nothing can be placed on a cluster now; two more causes have parameters."""

    LEFT = "cluster has left the fleet"
    NEVER_ONLINE = "cluster is not connected to the fleet: member agent not online yet"
    NOT_JOINED = "cluster is not connected to the fleet: member agent not joined yet"
    HEALTH_UNKNOWN = (
        "cluster is not connected to the fleet: health condition from member agent is not available"
    )


def heartbeat_missing(minutes: float) -> str:
    """Return the cause when the member's last heartbeat was this long ago."""
    return (
        "cluster is not connected to the fleet: no recent heartbeat signals"
        f" (last received {minutes:.2f} minutes ago)"
    )


def unhealthy(minutes: float) -> str:
    """Return the cause when the member has been unhealthy for this long."""
    return (
        "cluster is not connected to the fleet: unhealthy for a prolonged period of time"
        f" (last transitioned {minutes:.2f} minutes ago)"
    )
