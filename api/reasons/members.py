"""Reasons and messages of member clusters.

contract: placement 11
"""

from enum import StrEnum


class MemberReason(StrEnum):
    """Reasons of a member cluster's conditions, and of its agent's."""

    READY = "MemberClusterReadyToJoin"
    JOINED = "MemberClusterJoined"
    LEFT = "MemberClusterLeft"
    UNKNOWN = "MemberClusterJoinStateUnknown"
    HEALTHY = "MemberClusterHealthy"
    UNHEALTHY = "MemberClusterUnhealthy"
    AGENT_JOINED = "InternalMemberClusterJoined"
    AGENT_LEFT = "InternalMemberClusterLeft"
    AGENT_HEALTHY = "InternalMemberClusterHealthy"
    AGENT_UNHEALTHY = "InternalMemberClusterUnhealthy"
    PROVIDER_STARTED = "Started"
    COLLECTED = "PropertiesCollected"
    COLLECTION_FAILED = "FailedToCollect"
    NAMESPACES_COLLECTED = "Succeeded"
    NAMESPACES_TOO_MANY = "Degraded"


class MemberMessage(StrEnum):
    """Messages of a member cluster's conditions."""

    READY = "Member cluster is ready to join the fleet"
    JOINED = "Member cluster has successfully joined the fleet"
    LEFT = "Member cluster has left the fleet"
    PROVIDER_STARTED = "The property provider has started successfully"
    COLLECTED = "The property provider has returned the latest cluster properties"
    NAMESPACES_COLLECTED = "All namespaces have been collected successfully"
    NAMESPACES_TOO_MANY = (
        "Namespaces are collected in a degraded mode since the number of namespaces reaches the"
        " track limit"
    )


def agents_missing(cluster: str, *, expected: int, got: int) -> str:
    """Return the message of Joined Unknown when not all agents have reported."""
    return (
        f"Member cluster {cluster} has not reported all the expected agents,"
        f" expected {expected}, got {got}"
    )


def collection_failed(error: str) -> str:
    """Return the message for keeping the last known properties when collecting new ones fails."""
    return f"Failed to collect the cluster properties: {error}"
