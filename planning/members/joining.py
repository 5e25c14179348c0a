"""Conditions that the hub sets on a member whose agent has not reported yet.

contract: placement 11
"""

from datetime import datetime

from api.base import Condition
from api.members import AgentType, MemberCluster
from api.reasons import ConditionType, MemberMessage, MemberReason, agents_missing
from planning import conditions


def awaiting(member: MemberCluster, *, now: datetime) -> list[Condition]:
    """Return the conditions of a member that waits for its agent; none once one has reported."""
    reported = [each for each in member.status.agent_status if each.type == AgentType.MEMBER_AGENT]
    if reported or conditions.find(member.status.conditions, ConditionType.JOINED):
        return []
    missing = agents_missing(member.metadata.name, expected=1, got=0)
    generation = member.metadata.generation
    return [
        conditions.make(
            ConditionType.READY_TO_JOIN,
            "True",
            MemberReason.READY,
            MemberMessage.READY,
            generation=generation,
            now=now,
        ),
        conditions.make(
            ConditionType.JOINED,
            "Unknown",
            MemberReason.UNKNOWN,
            missing,
            generation=generation,
            now=now,
        ),
    ]
