"""Reasons of member clusters and of their agents.

contract: placement 11
"""

from typing import Final

from api.reasons import ConditionType, MemberReason
from planning.explaining.entries import NOTHING, Entry, Holder

_START_THE_AGENT: Final = (
    "Start the agent: `fleetgate agent --member CLUSTER`, or `fleetgate worker --run agents` with "
    "the cluster's kubeconfig in a labelled Secret. Its log says why it cannot reach the hub."
)

_MEMBER: Final = (
    Entry(
        Holder.MEMBER,
        ConditionType.READY_TO_JOIN,
        MemberReason.READY,
        "The hub has made ready what the member's agent needs: a namespace and rights.",
        NOTHING,
    ),
    Entry(
        Holder.MEMBER,
        ConditionType.JOINED,
        MemberReason.JOINED,
        "The member's agent has reported: the cluster belongs to the fleet.",
        NOTHING,
    ),
    Entry(
        Holder.MEMBER,
        ConditionType.JOINED,
        MemberReason.LEFT,
        "The cluster is leaving the fleet: its agent touches no object any more, and what is on it "
        "stays there.",
        "To have it back, create the MemberCluster again.",
    ),
    Entry(
        Holder.MEMBER,
        ConditionType.JOINED,
        MemberReason.UNKNOWN,
        "The member's agent has never reported.",
        _START_THE_AGENT,
    ),
    Entry(
        Holder.MEMBER,
        ConditionType.HEALTHY,
        MemberReason.HEALTHY,
        "The member's agent finds its API server well.",
        NOTHING,
    ),
    Entry(
        Holder.MEMBER,
        ConditionType.HEALTHY,
        MemberReason.UNHEALTHY,
        "The member's agent is alive, but its API server is not well. Objects wait to be applied.",
        "Mend the member's API server; the message has what it answers.",
    ),
    Entry(
        Holder.MEMBER,
        ConditionType.PROPERTY_PROVIDER_STARTED,
        MemberReason.PROVIDER_STARTED,
        "The member's agent reads the cluster's properties, such as its nodes and free memory.",
        NOTHING,
    ),
    Entry(
        Holder.MEMBER,
        ConditionType.PROPERTY_COLLECTION_SUCCEEDED,
        MemberReason.COLLECTED,
        "The properties in the status are those of now.",
        NOTHING,
    ),
    Entry(
        Holder.MEMBER,
        ConditionType.PROPERTY_COLLECTION_SUCCEEDED,
        MemberReason.COLLECTION_FAILED,
        "The properties in the status are old: the cluster did not give new ones. Policies that "
        "look at properties decide by the old ones.",
        "Give the agent the right to list nodes and pods on the member; the message has the error.",
    ),
    Entry(
        Holder.MEMBER,
        ConditionType.NAMESPACES_COLLECTED,
        MemberReason.NAMESPACES_COLLECTED,
        "The status lists all namespaces of the member, by which ResourcePlacements pick clusters.",
        NOTHING,
    ),
    Entry(
        Holder.MEMBER,
        ConditionType.NAMESPACES_COLLECTED,
        MemberReason.NAMESPACES_TOO_MANY,
        "The member has more namespaces than its status lists. A ResourcePlacement may pass over "
        "the member although its namespace is there.",
        "Delete namespaces that nobody needs, or name the member in a placement of type PickFixed.",
    ),
)

_AGENT: Final = (
    Entry(
        Holder.AGENT,
        ConditionType.JOINED,
        MemberReason.AGENT_JOINED,
        "The agent has reported.",
        NOTHING,
    ),
    Entry(
        Holder.AGENT,
        ConditionType.JOINED,
        MemberReason.AGENT_LEFT,
        "The agent has let the cluster's objects go and does nothing more.",
        NOTHING,
    ),
    Entry(
        Holder.AGENT,
        ConditionType.HEALTHY,
        MemberReason.AGENT_HEALTHY,
        "The agent finds its API server well.",
        NOTHING,
    ),
    Entry(
        Holder.AGENT,
        ConditionType.HEALTHY,
        MemberReason.AGENT_UNHEALTHY,
        "The agent is alive, but its API server is not well.",
        "Mend the member's API server; the message has what it answers.",
    ),
)

ENTRIES: Final = (*_MEMBER, *_AGENT)
