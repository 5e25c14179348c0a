"""Whether a member has joined and is healthy, as its MemberCluster says.

The member's agent reports it; the hub does as long as the agent has not reported.

contract: placement 11
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from api.base import Condition
from api.members import AgentStatus, AgentType, MemberCluster, MemberClusterStatus
from api.reasons import ConditionType, MemberMessage, MemberReason, agents_missing
from planning import conditions

READY_TO_JOIN: Final = ConditionType.READY_TO_JOIN
JOINED: Final = ConditionType.JOINED
HEALTHY: Final = ConditionType.HEALTHY


def alive(member: MemberCluster, *, problem: str = "", now: datetime) -> MemberClusterStatus:
    """Return the status of a member whose agent is running.

    Args:
        member: the member as registered, with its current status.
        problem: why the cluster's API server is not healthy; empty if it is.
        now: time of the heartbeat.
    """
    healthy = "False" if problem else "True"
    agent_health = MemberReason.AGENT_UNHEALTHY if problem else MemberReason.AGENT_HEALTHY
    health = MemberReason.UNHEALTHY if problem else MemberReason.HEALTHY
    agent = [
        _make(JOINED, "True", MemberReason.AGENT_JOINED, "", member, now),
        _make(HEALTHY, healthy, agent_health, problem, member, now),
    ]
    whole = [
        _make(READY_TO_JOIN, "True", MemberReason.READY, MemberMessage.READY, member, now),
        _make(JOINED, "True", MemberReason.JOINED, MemberMessage.JOINED, member, now),
        _make(HEALTHY, healthy, health, problem, member, now),
    ]
    return _status(member, whole=whole, agent=agent, heartbeat=now)


def left(member: MemberCluster, *, now: datetime) -> MemberClusterStatus:
    """Return the status of a member that leaves: its agent no longer touches any object."""
    before = _own_agent(member)
    whole = [_make(JOINED, "False", MemberReason.LEFT, MemberMessage.LEFT, member, now)]
    agent = [_make(JOINED, "False", MemberReason.AGENT_LEFT, "", member, now)]
    heartbeat = before.last_received_heartbeat if before else None
    return _status(member, whole=whole, agent=agent, heartbeat=heartbeat)


def has_left(member: MemberCluster) -> bool:
    """Return whether the member's status already says that it left."""
    agent = _own_agent(member)
    return conditions.has(member.status.conditions, JOINED, "False") and conditions.has(
        agent.conditions if agent else (), JOINED, "False"
    )


def awaiting(member: MemberCluster, *, now: datetime) -> list[Condition]:
    """Return the conditions of a member that waits for its agent; none once one has reported."""
    if _own_agent(member) or conditions.find(member.status.conditions, JOINED):
        return []
    missing = agents_missing(member.metadata.name, expected=1, got=0)
    return [
        _make(READY_TO_JOIN, "True", MemberReason.READY, MemberMessage.READY, member, now),
        _make(JOINED, "Unknown", MemberReason.UNKNOWN, missing, member, now),
    ]


def _make(
    kind: str, status: str, reason: str, message: str, member: MemberCluster, now: datetime
) -> Condition:
    generation = member.metadata.generation
    return conditions.make(kind, status, reason, message, generation=generation, now=now)


def _status(
    member: MemberCluster,
    *,
    whole: Sequence[Condition],
    agent: Sequence[Condition],
    heartbeat: datetime | None,
) -> MemberClusterStatus:
    before = _own_agent(member)
    status = AgentStatus(
        type=AgentType.MEMBER_AGENT,
        conditions=conditions.renewed(before.conditions if before else (), agent),
    )
    if heartbeat is not None:
        status.last_received_heartbeat = heartbeat
    # The list of agents is written as a whole, so the entries of other agents are included.
    others = [each for each in member.status.agent_status if each.type != status.type]
    return MemberClusterStatus(
        conditions=conditions.renewed(member.status.conditions, whole),
        agent_status=[status, *others],
    )


def _own_agent(member: MemberCluster) -> AgentStatus | None:
    wanted = AgentType.MEMBER_AGENT
    return next((each for each in member.status.agent_status if each.type == wanted), None)
