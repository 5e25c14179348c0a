"""Every check there is, and making them side by side."""

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
    accounts,
    admission,
    definitions,
    leases,
    members,
    metrics,
    own_rights,
    placements,
    polling,
    runs,
    server,
    temporal_server,
)
from starter.doctor.findings import Finding, Verdict, unknown
from starter.doctor.reaching import NotReached
from starter.doctor.setup import Setup


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to look at."""

    group: str
    name: str
    """What is looked at, in words."""
    look: Callable[[Setup], Awaitable[Sequence[Finding]]]


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a check."""

    check: Check
    findings: Sequence[Finding]


ALL: Final = (
    Check("hub", "API server", server.answers),
    Check("hub", "clocks", server.clock),
    Check("hub", "kinds", definitions.served),
    Check("hub", "admission policies", admission.policies),
    Check("rights", "your rights", own_rights.of_user),
    Check("rights", "rights of the processes", accounts.of_processes),
    Check("Temporal", "Temporal", temporal_server.answers),
    Check("Temporal", "Temporal namespace", temporal_server.namespace),
    Check("Temporal", "search attributes", temporal_server.attributes),
    Check("processes", "workers", polling.polled),
    Check("processes", "leaders", leases.held),
    Check("processes", "metrics", metrics.reported),
    Check("fleet", "members", members.heard),
    Check("fleet", "placements", placements.served),
    Check("fleet", "runs", runs.driven),
)
"""In the order in which they are shown: what others stand on comes first."""


async def examine(
    setup: Setup, *, within: timedelta, checks: Sequence[Check] = ALL
) -> Sequence[Report]:
    """Make all checks side by side; one that takes longer than `within` is given up."""
    return await asyncio.gather(*(_make(check, setup, within) for check in checks))


async def _make(check: Check, setup: Setup, within: timedelta) -> Report:
    try:
        async with asyncio.timeout(within.total_seconds()):
            findings = await check.look(setup)
    except TimeoutError:
        says = f"no answer within {within.total_seconds():g} s"
        findings = [unknown(check.name, says, advice="give it longer with --timeout")]
    except (HubError, RPCError, NotReached, ValidationError) as error:
        findings = [unmade(check.name, error)]
    return Report(check, findings)


def unmade(about: str, error: Exception) -> Finding:
    """Say why a check could not be made, and which right is missing if it is one.

    What another check finds wrong, that check says what to do about.
    """
    match error:
        case NotReached():
            return unknown(about, "Temporal cannot be reached")
        case Forbidden():
            return unknown(about, f"you lack the right to {_right(str(error))}", advice=_ASK)
        case NotFound() if not error.details.name:
            return unknown(about, "the hub does not serve the kind")
        case RPCError() if error.status in _NOT_ALLOWED:
            return unknown(about, f"Temporal does not let you see it: {error.message}", advice=_ASK)
        case RPCError():
            return unknown(about, f"Temporal says: {error.message}")
        case ValidationError():
            says = f"an object on the hub cannot be read: {error.errors()[0]['msg']}"
            return unknown(about, says)
    return unknown(about, str(error))


_ASK: Final = "ask for it, or have somebody look who has it"
_NOT_ALLOWED: Final = (
    RPCStatusCode.PERMISSION_DENIED,
    RPCStatusCode.UNAUTHENTICATED,
    RPCStatusCode.UNIMPLEMENTED,  # as where the operator's requests are served elsewhere
)
_CANNOT: Final = re.compile(
    r'cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)"'
    r'(?: in the namespace "(?P<namespace>[^"]+)")?'
)


def _right(refusal: str) -> str:
    """`list memberclusters.cluster.kubernetes-fleet.io`, out of an API server's refusal."""
    found = _CANNOT.search(refusal)
    if found is None:
        return refusal
    group = f".{found['group']}" if found["group"] else ""
    where = f" in namespace {found['namespace']}" if found["namespace"] else ""
    return f"{found['verb']} {found['resource']}{group}{where}"


def worst(reports: Sequence[Report]) -> Verdict:
    """The verdict on everything: what has to be mended comes before what is not known."""
    order = (Verdict.PROBLEM, Verdict.WARNING, Verdict.UNKNOWN)
    found = {each.verdict for report in reports for each in report.findings}
    return next((each for each in order if each in found), Verdict.OK)
