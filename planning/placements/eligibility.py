"""Eligibility: whether objects can be placed on a member cluster now, and its data for scheduling.

contract: placement 4 (eligibility), 11, 12 (namespaces)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from api.members import AgentStatus, AgentType, MemberCluster, Taint
from api.reasons import ConditionType, Ineligible, heartbeat_missing, unhealthy
from planning.conditions import find

PATIENCE: Final = timedelta(minutes=5)
"""How long a member may be silent or unhealthy and still be picked (contract: placement 11)."""
_USAGE: Final = "resources.kubernetes-fleet.io/"
"""Prefix of properties that are read from the resource usage (contract: placement 11)."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A member cluster as the scheduler sees it."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    namespaces: frozenset[str] | None
    """Namespaces on the member; None if they are not collected."""
    properties: Mapping[str, str]
    """Properties by name, including capacity and available amount of each resource."""
    leaving: bool
    ineligible: str
    """Why nothing can be placed on it now; empty if it is eligible."""


def candidate(member: MemberCluster, *, now: datetime) -> Candidate:
    """Read the data that decides about picking a MemberCluster."""
    return Candidate(
        name=member.metadata.name,
        labels=member.metadata.labels,
        taints=tuple(member.spec.taints),
        namespaces=_namespaces(member),
        properties=_properties(member),
        leaving=member.metadata.deletion_timestamp is not None,
        ineligible=ineligible(member, now=now),
    )


def ineligible(member: MemberCluster, *, now: datetime) -> str:
    """Return why nothing can be placed on the member now; empty if it is eligible."""
    if member.metadata.deletion_timestamp is not None:
        return Ineligible.LEFT
    return disconnected(member, now=now)


def disconnected(member: MemberCluster, *, now: datetime) -> str:
    """Return why the member's agent is not working now; empty if it is."""
    agent = _own_agent(member)
    return Ineligible.NEVER_ONLINE if agent is None else _away(agent, now=now)


def silence(member: MemberCluster, *, now: datetime) -> timedelta | None:
    """Return how long ago the member's agent last reported; None if it never has."""
    agent = _own_agent(member)
    return _silence(agent, now=now) if agent else None


def last_report(member: MemberCluster) -> datetime | None:
    """Return when the member's agent last reported; None if it never has."""
    agent = _own_agent(member)
    return agent.last_received_heartbeat if agent else None


def patience_left(member: MemberCluster, *, now: datetime) -> timedelta | None:
    """Return how long until a member becomes ineligible without a new report; None if it won't."""
    agent = _own_agent(member)
    if agent is None or agent.last_received_heartbeat is None:
        return None
    since = [agent.last_received_heartbeat]
    healthy = find(agent.conditions, ConditionType.HEALTHY)
    if healthy is not None and healthy.status != "True":
        since.append(healthy.last_transition_time)
    left = [moment + PATIENCE - now for moment in since]
    return min((each for each in left if each >= timedelta(0)), default=None)


def _own_agent(member: MemberCluster) -> AgentStatus | None:
    reports = (each for each in member.status.agent_status if each.type == AgentType.MEMBER_AGENT)
    return next(reports, None)


def _silence(agent: AgentStatus, *, now: datetime) -> timedelta | None:
    return now - agent.last_received_heartbeat if agent.last_received_heartbeat else None


def _away(agent: AgentStatus, *, now: datetime) -> str:
    silent = _silence(agent, now=now)
    if silent is None:
        return Ineligible.NEVER_ONLINE
    if silent > PATIENCE:
        return heartbeat_missing(silent / timedelta(minutes=1))
    joined = find(agent.conditions, ConditionType.JOINED)
    if joined is None or joined.status != "True":
        return Ineligible.NOT_JOINED
    healthy = find(agent.conditions, ConditionType.HEALTHY)
    if healthy is None:
        return Ineligible.HEALTH_UNKNOWN
    sick = now - healthy.last_transition_time
    if healthy.status != "True" and sick > PATIENCE:
        return unhealthy(sick / timedelta(minutes=1))
    return ""


def _namespaces(member: MemberCluster) -> frozenset[str] | None:
    # The condition shows that namespaces are collected; False means too many to list them all.
    collected = find(member.status.conditions, ConditionType.NAMESPACES_COLLECTED)
    return None if collected is None else frozenset(member.status.namespaces)


def _properties(member: MemberCluster) -> dict[str, str]:
    plain = {name: each.value for name, each in member.status.properties.items()}
    usage = member.status.resource_usage
    amounts = {
        "total": usage.capacity, "allocatable": usage.allocatable, "available": usage.available
    }  # fmt: skip
    return plain | {
        f"{_USAGE}{which}-{resource}": str(amount)
        for which, quantities in amounts.items()
        for resource, amount in quantities.items()
    }
