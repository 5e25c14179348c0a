"""Reasons of member clusters and of their agents.

contract: placement 11
"""

from typing import Final

from api.reasons import ConditionType, MemberReason
from starter.explain.reasons.entries import NOTHING, Holder, ReasonEntry

_START_THE_AGENT: Final = (
    "Start the agent: `fleetgate agent --member CLUSTER`, or `fleetgate worker --run agents` with "
    "the cluster's kubeconfig in a labelled Secret. Its log says why it cannot reach the hub."
)

_MEMBER: Final = (
    ReasonEntry(
        Holder.MEMBER,
        ConditionType.READY_TO_JOIN,
        MemberReason.READY,
        "The hub has created what the member's agent needs: a namespace and rights.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.MEMBER,
        ConditionType.JOINED,
        MemberReason.JOINED,
        "The member's agent has reported: the cluster belongs to the fleet.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.MEMBER,
        ConditionType.JOINED,
        MemberReason.LEFT,
        "The cluster is leaving the fleet: its agent no longer touches any object, and the objects "
        "on it stay there.",
        "To bring it back, create the MemberCluster again.",
    ),
    ReasonEntry(
        Holder.MEMBER,
        ConditionType.JOINED,
        MemberReason.UNKNOWN,
        "The member's agent has never reported.",
        _START_THE_AGENT,
    ),
    ReasonEntry(
        Holder.MEMBER,
        ConditionType.HEALTHY,
        MemberReason.HEALTHY,
        "The member's agent reports that its API server is healthy.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.MEMBER,
        ConditionType.HEALTHY,
        MemberReason.UNHEALTHY,
        "The member's agent is running, but its API server is not healthy. Objects wait to be "
        "applied.",
        "Fix the member's API server; the message has its answer.",
    ),
    ReasonEntry(
        Holder.MEMBER,
        ConditionType.PROPERTY_PROVIDER_STARTED,
        MemberReason.PROVIDER_STARTED,
        "The member's agent reads the cluster's properties, such as its nodes and free memory.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.MEMBER,
        ConditionType.PROPERTY_COLLECTION_SUCCEEDED,
        MemberReason.COLLECTED,
        "The properties in the status are up to date.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.MEMBER,
        ConditionType.PROPERTY_COLLECTION_SUCCEEDED,
        MemberReason.COLLECTION_FAILED,
        "The properties in the status are stale: new ones could not be read. Policies that use "
        "properties decide by the old ones.",
        "Allow the agent to list nodes and pods on the member; the message has the error.",
    ),
    ReasonEntry(
        Holder.MEMBER,
        ConditionType.NAMESPACES_COLLECTED,
        MemberReason.NAMESPACES_COLLECTED,
        "The status lists all namespaces of the member; ResourcePlacements pick clusters by them.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.MEMBER,
        ConditionType.NAMESPACES_COLLECTED,
        MemberReason.NAMESPACES_TOO_MANY,
        "The member has more namespaces than its status can list. A ResourcePlacement may skip "
        "the member although its namespace exists there.",
        "Delete unused namespaces, or name the member in a placement of type PickFixed.",
    ),
)

_AGENT: Final = (
    ReasonEntry(
        Holder.AGENT,
        ConditionType.JOINED,
        MemberReason.AGENT_JOINED,
        "The agent has reported.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.AGENT,
        ConditionType.JOINED,
        MemberReason.AGENT_LEFT,
        "The agent has released the cluster's objects and does nothing more.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.AGENT,
        ConditionType.HEALTHY,
        MemberReason.AGENT_HEALTHY,
        "The agent reports that its API server is healthy.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.AGENT,
        ConditionType.HEALTHY,
        MemberReason.AGENT_UNHEALTHY,
        "The agent is running, but its API server is not healthy.",
        "Fix the member's API server; the message has its answer.",
    ),
)

ENTRIES: Final = (*_MEMBER, *_AGENT)
