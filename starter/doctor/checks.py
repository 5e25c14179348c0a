"""All checks, and running them concurrently."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pydantic import ValidationError
from temporalio.service import RPCError, RPCStatusCode

from hub import Forbidden, HubError, NotFound
from starter.doctor import (
    installed,
    leases,
    members,
    placements,
    rights,
    runs,
    server,
    temporal_server,
    workers,
)
from starter.doctor.findings import Finding, Setup, Verdict, unknown
from starter.doctor.temporal_server import NotReached


@dataclass(frozen=True, slots=True)
class Check:
    """One check."""

    group: str
    name: str
    """What it checks, in words."""
    look: Callable[[Setup], Awaitable[Sequence[Finding]]]


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of one check."""

    check: Check
    findings: Sequence[Finding]


ALL: Final = (
    Check("hub", "API server", server.answers),
    Check("hub", "clocks", server.clock),
    Check("hub", "CRDs", installed.served),
    Check("hub", "admission policies", installed.policies),
    Check("rights", "your rights", rights.of_user),
    Check("rights", "rights of the processes", rights.of_processes),
    Check("Temporal", "Temporal", temporal_server.answers),
    Check("Temporal", "Temporal namespace", temporal_server.namespace),
    Check("Temporal", "search attributes", temporal_server.attributes),
    Check("processes", "workers", workers.polled),
    Check("processes", "leaders", leases.held),
    Check("processes", "metrics", workers.reported),
    Check("fleet", "members", members.heard),
    Check("fleet", "placements", placements.served),
    Check("fleet", "runs", runs.driven),
)
"""In display order: what other parts depend on comes first."""


async def examine(
    setup: Setup, *, within: timedelta, checks: Sequence[Check] = ALL
) -> Sequence[Report]:
    """Run all checks concurrently; a check that takes longer than `within` is abandoned."""
    return await asyncio.gather(*(_make(check, setup, within) for check in checks))


async def _make(check: Check, setup: Setup, within: timedelta) -> Report:
    try:
        async with asyncio.timeout(within.total_seconds()):
            findings = await check.look(setup)
    except TimeoutError:
        says = f"no answer within {within.total_seconds():g} s"
        findings = [unknown(check.name, says, advice="raise --timeout")]
    except (HubError, RPCError, NotReached, ValidationError) as error:
        findings = [unmade(check.name, error)]
    return Report(check, findings)


def unmade(about: str, error: Exception) -> Finding:
    """Report why a check could not run, naming the missing right if that is the reason.

    There is no advice for what another check reports too: that one gives it.
    """
    match error:
        case NotReached():
            return unknown(about, "Temporal cannot be reached")
        case Forbidden():
            return unknown(about, f"you lack the right to {_right(str(error))}", advice=_ASK)
        case NotFound() if not error.details.name:
            return unknown(about, "the hub does not serve this kind")
        case RPCError() if error.status in _NOT_ALLOWED:
            return unknown(about, f"Temporal denies you access: {error.message}", advice=_ASK)
        case RPCError():
            return unknown(about, f"Temporal says: {error.message}")
        case ValidationError():
            says = f"an object on the hub cannot be read: {error.errors()[0]['msg']}"
            return unknown(about, says)
    return unknown(about, str(error))


_ASK: Final = "request access, or ask someone who has it to run this check"
_NOT_ALLOWED: Final = (
    RPCStatusCode.PERMISSION_DENIED,
    RPCStatusCode.UNAUTHENTICATED,
    RPCStatusCode.UNIMPLEMENTED,  # as on servers that offer the operator API elsewhere
)
_CANNOT: Final = re.compile(
    r'cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)"'
    r'(?: in the namespace "(?P<namespace>[^"]+)")?'
)


def _right(refusal: str) -> str:
    """Extract `list memberclusters.cluster.kubernetes-fleet.io` from an API server's refusal."""
    found = _CANNOT.search(refusal)
    if found is None:
        return refusal
    group = f".{found['group']}" if found["group"] else ""
    where = f" in namespace {found['namespace']}" if found["namespace"] else ""
    return f"{found['verb']} {found['resource']}{group}{where}"


def worst(reports: Sequence[Report]) -> Verdict:
    """Return the overall verdict: a problem outweighs a warning, and a warning an unknown."""
    order = (Verdict.PROBLEM, Verdict.WARNING, Verdict.UNKNOWN)
    found = {each.verdict for report in reports for each in report.findings}
    return next((each for each in order if each in found), Verdict.OK)
