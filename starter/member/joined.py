"""Waiting until a member has joined, and finding out what is missing if it does not."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from api.kinds import MEMBER_CLUSTER, NAMESPACE
from api.members import MemberCluster
from api.names import member_namespace
from api.reasons import ConditionType
from deploy.joining import AGENT, AGENT_NAMESPACE
from hub import Forbidden, Hub, HubError, Unauthorized
from planning import conditions, durations
from planning.members import properties
from planning.placements import eligibility
from starter import words
from starter.failures import CommandFailure, ExitCode
from starter.following import follow

_PROBE_WITHIN: Final = timedelta(seconds=5)
"""How long an API server may take to answer; the person has waited long enough by then."""


@dataclass(frozen=True, slots=True)
class ExpectedAgent:
    """The agent that is to report for a member, and what it works with."""

    member: str
    access: str
    """Its kubeconfig: of the hub if it runs in the member, of the member if it runs in a worker."""
    address: str
    """Address of the API server in that kubeconfig."""
    how_to_look: str
    """Command or sentence that leads to the agent and its log."""
    in_member: bool


@dataclass(frozen=True, slots=True)
class Missing:
    """What keeps a member from joining."""

    what: str
    advice: str


def in_member(member: str, access: str, address: str, *, context: str | None) -> ExpectedAgent:
    """Return the agent that the chart installs in the member cluster."""
    of_context = f" --context {context}" if context else ""
    look = f"see its log: kubectl logs -n {AGENT_NAMESPACE} deployment/{AGENT}{of_context}"
    return ExpectedAgent(member, access, address, look, in_member=True)


def in_worker(member: str, access: str, address: str, *, namespace: str) -> ExpectedAgent:
    """Return the agent that a worker runs."""
    look = f"is a worker running with `--run agents --member-secrets {namespace}`? See its log"
    return ExpectedAgent(member, access, address, look, in_member=False)


async def until_joined(
    hub: Hub, agent: ExpectedAgent, *, taken_over: MemberCluster | None, within: timedelta
) -> MemberCluster:
    """Wait until the agent has reported that the member has joined.

    Args:
        hub: client of the hub.
        agent: the agent.
        taken_over: the MemberCluster while it had another agent, whose reports do not count.
        within: how long to wait.

    Raises CommandFailure with what is missing.
    """
    body = await hub.get(MEMBER_CLUSTER, agent.member)
    seen = MemberCluster.from_wire(body)
    before = eligibility.last_report(taken_over) if taken_over else None
    try:
        async with (
            asyncio.timeout(within.total_seconds()),
            follow(hub, MEMBER_CLUSTER, name=agent.member) as changes,
        ):
            async for change in changes:
                if change.new is None:
                    break
                seen = MemberCluster.from_wire(change.new)
                if _has_joined(seen) and eligibility.last_report(seen) != before:
                    return seen
    except TimeoutError as error:
        missing = await _missing(hub, agent, seen)
        limit = durations.format_duration(within)
        raise CommandFailure(
            f"{agent.member} has not joined after {limit}: {missing.what}", advice=missing.advice
        ) from error
    raise CommandFailure(f"{agent.member} was deleted", exit_code=ExitCode.NOT_FOUND)


def version(member: MemberCluster) -> str:
    """Return the member's Kubernetes version; empty until its agent has reported it."""
    found = member.status.properties.get(properties.VERSION)
    return found.value if found else ""


def _has_joined(member: MemberCluster) -> bool:
    says_so = conditions.has(member.status.conditions, ConditionType.JOINED, "True")
    return says_so and not eligibility.disconnected(member, now=datetime.now(UTC))


async def _missing(hub: Hub, agent: ExpectedAgent, seen: MemberCluster) -> Missing:
    """Return what keeps a member from joining."""
    namespace = member_namespace(agent.member)
    if not await _may_exist(hub, namespace):
        return Missing(
            what=f"the hub has no namespace {namespace}",
            advice="built-in placement creates it: is a worker running with `--run placement`? "
            "See `fleetgate doctor`",
        )
    if found := await _refused(agent):
        return found
    silent = eligibility.silence(seen, now=datetime.now(UTC))
    return Missing(
        what="its agent has not reported"
        if silent is None
        else f"its agent last reported {words.age(silent)} ago",
        advice=f"{agent.how_to_look}\nif it cannot reach {agent.address}, give {_option(agent)}",
    )


async def _may_exist(hub: Hub, namespace: str) -> bool:
    try:
        return await hub.find(NAMESPACE, namespace) is not None
    except HubError:
        return True  # the person may not read namespaces


async def _refused(agent: ExpectedAgent) -> Missing | None:
    """Try what the agent does first, with its own credentials; return what is wrong with them."""
    whose = "the hub" if agent.in_member else "the member"
    try:
        async with (
            asyncio.timeout(_PROBE_WITHIN.total_seconds()),
            await Hub.connect_as_told(agent.access) as cluster,
        ):
            if agent.in_member:
                await cluster.get(MEMBER_CLUSTER, agent.member)
            else:
                await cluster.version()
    except Unauthorized:
        return Missing(
            what=f"{whose} rejects the agent's token",
            advice="join again; if that does not help, let the member leave first",
        )
    except Forbidden as error:
        return Missing(
            what=f"its agent lacks rights on {whose}: {error}",
            advice="built-in placement grants them on the hub. If another system handles "
            "placement, apply\ndeploy/rbac/member-agent-on-hub.yaml as described at its top",
        )
    except (HubError, TimeoutError) as error:
        return Missing(
            what=f"{whose} does not answer at {agent.address}: {error or 'no answer in time'}",
            advice=f"if this is not {whose}'s address, join again with {_option(agent)}",
        )
    return None


def _option(agent: ExpectedAgent) -> str:
    """Return the option of `member join` for the address that the agent needs."""
    return "--hub-server" if agent.in_member else "--member-server"
