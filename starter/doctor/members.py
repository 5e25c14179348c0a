"""Check that each member has joined, sends heartbeats, and has a correct clock."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from api.kinds import MEMBER_CLUSTER
from api.members import AgentType, MemberCluster
from api.reasons import ConditionType
from planning import conditions
from planning.placements import eligibility
from planning.writers import last_writer
from starter import words
from starter.doctor.findings import Command, Finding, Setup, ok, problem, warning
from starter.doctor.server import SKEW

MISSED: Final = 3
"""Heartbeats that a member may miss before a warning; it can still be picked at that point."""


async def heard(setup: Setup) -> Sequence[Finding]:
    """Check each member, by the hub's clock."""
    now = await setup.hub.clock()
    found = (await setup.hub.list(MEMBER_CLUSTER)).items
    return judge([MemberCluster.from_wire(each) for each in found], now=now, command=setup.command)


def judge(members: Sequence[MemberCluster], *, now: datetime, command: Command) -> list[Finding]:
    """Return the findings for unhealthy members, and one for all others together."""
    if not members:
        return [
            warning(
                "members",
                "the fleet has no members, so nothing can be placed",
                advice="add one, see docs/how-to/members.md",
            )
        ]
    troubles = {each.metadata.name: list(_troubles(each, now, command)) for each in members}
    bad = [finding for found in troubles.values() for finding in found]
    well = [each for each in members if not troubles[each.metadata.name]]
    return [_together(well, now=now), *bad] if well else bad


def _together(well: Sequence[MemberCluster], *, now: datetime) -> Finding:
    silences = [eligibility.silence(each, now=now) or timedelta(0) for each in well]
    says = f"{words.count(len(well), 'member')}: joined, healthy, heard from within the last "
    return ok("members", says + words.age(max(silences)))


def _troubles(member: MemberCluster, now: datetime, command: Command) -> Iterator[Finding]:
    name = member.metadata.name
    about = f"member {name}"
    describe = [command(f"kubectl describe membercluster {name}")]
    agent = "check that its agent is running and can reach the hub; the agent's log says why not"
    if member.metadata.deletion_timestamp:
        advice = "wait if this is recent; otherwise something that is still placed there blocks it"
        since = words.age(now - member.metadata.deletion_timestamp)
        yield warning(about, f"has been leaving for {since}", advice=advice, commands=describe)
    elif why := eligibility.disconnected(member, now=now):
        says = f"nothing can be placed on it: {why}"
        yield problem(about, says, advice=agent, commands=describe)
    elif late := _late(member, now=now):
        yield warning(
            about, f"not heard from for {words.age(late)}", advice=agent, commands=describe
        )
    elif unhealthy := _unhealthy(member):
        yield warning(about, unhealthy, advice=agent, commands=describe)
    if skew := _skew(member):
        yield _wrong_clock(about, skew)


def _wrong_clock(about: str, skew: timedelta) -> Finding:
    word = "ahead of" if skew > timedelta(0) else "behind"
    says = f"its clock is {words.age(abs(skew))} {word} the hub's"
    advice = "synchronize it with NTP on the machine that runs its agent"
    if abs(skew) < eligibility.PATIENCE:
        return warning(about, says, advice=advice, commands=["timedatectl status"])
    says += "; heartbeats do not show if it is alive" if skew > timedelta(0) else ""
    return problem(about, says, advice=advice, commands=["timedatectl status"])


def _late(member: MemberCluster, *, now: datetime) -> timedelta | None:
    silence = eligibility.silence(member, now=now)
    period = timedelta(seconds=member.spec.heartbeat_period_seconds)
    return silence if silence and silence > MISSED * period + SKEW else None


def _unhealthy(member: MemberCluster) -> str:
    """Return the member's first bad condition with its message; empty if there is none."""
    for kind in (ConditionType.JOINED, ConditionType.HEALTHY):
        found = conditions.find(member.status.conditions, kind)
        if found is not None and found.status != "True":
            return f"{kind} is {found.status}: {found.message or found.reason}"
    return ""


def _skew(member: MemberCluster) -> timedelta | None:
    """Return how far the member's clock is ahead of the hub's, if by more than the tolerance.

    The heartbeat carries the member's time; the hub records when it was written.
    """
    heartbeat = next(
        (
            each.last_received_heartbeat
            for each in member.status.agent_status
            if each.type == AgentType.MEMBER_AGENT
        ),
        None,
    )
    written = last_writer(member.metadata, "f:status", "f:agentStatus")
    if heartbeat is None or written is None or written.at is None:
        return None
    ahead = heartbeat - written.at
    # A status written between two heartbeats still carries the time of the first.
    period = timedelta(seconds=member.spec.heartbeat_period_seconds)
    return ahead if ahead > SKEW or -ahead > SKEW + period else None
