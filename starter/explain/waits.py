"""Situations of runs that wait at gates: for approvals or for time. Pure."""

from collections.abc import Iterator
from datetime import datetime

from planning import conditions
from planning.runs import approval_events, approvals
from planning.runs.gates import OpenGate, PendingApproval
from starter import words
from starter.explain.looks import NOBODY_ACTS, Attention, Look, Situation
from starter.explain.workers import between, late


def waiting(look: Look) -> Situation:
    """Describe a run that waits at gates."""
    gates = look.view.gates
    if gates.approvals:
        return _for_people(look)
    return _for_time(look, gates.waits) if gates.waits else between(look)


def names(look: Look) -> str:
    """Name the closed gates: `the approval after stage a and the wait of 1m after stage a`."""
    return " and ".join(f"the {each}" for each in look.view.gates.open)


def _clock(moment: datetime, now: datetime) -> str:
    """Return a time of day in UTC, with the date unless it is today."""
    day = "" if moment.date() == now.date() else f"{moment:%Y-%m-%d} "
    return f"{day}{moment:%H:%M:%S} UTC"


def _for_time(look: Look, waits: tuple[OpenGate, ...]) -> Situation:
    since = min(each.since for each in waits if each.since)
    until = max(each.until for each in waits if each.until)
    stages = " and ".join(dict.fromkeys(each.stage for each in waits))
    left = words.age(until - look.now)
    says = (
        f"Waiting until {_clock(until, look.now)} ({left} left), after stage {stages}. {look.done}"
    )
    if look.is_overdue(until):
        over = f"The wait after stage {stages} has been over for {look.ago(until)}."
        return late(look, f"{over} {look.done}", "Nothing has happened since: is a worker running?")
    return Situation((says,), f"{NOBODY_ACTS} It continues by itself.", since=since, until=until)


def _for_people(look: Look) -> Situation:
    since = min((each.since for each in look.view.gates.approvals if each.since), default=None)
    says = f"Waiting for {names(look)}, for {look.ago(since)} so far. {look.done}"
    given = [each for each in look.view.gates.approvals if _given_at(look, each)]
    if given and look.is_overdue(_given_at(look, given[0])):
        return late(look, says, f"The {given[0]} was given, but no worker has processed it.")
    if len(given) == len(look.view.gates.approvals):
        return Situation((says,), f"{NOBODY_ACTS} The approval was given just now.", since=since)
    faults = map(approval_events.fault, look.evidence.approvals.values())
    return Situation(
        says=(says, *(f"{each}." for each in faults if each)),
        acts="Someone has to approve.",
        attention=Attention.PERSON,
        since=since,
        commands=tuple(_ways(look)),
    )


def _given_at(look: Look, gate: PendingApproval) -> datetime | None:
    request = look.evidence.approvals.get(gate.request)
    if request is None or not approvals.approved(request):
        return None
    found = conditions.find(request.status.conditions, approvals.APPROVED)
    return found.last_transition_time if found else None


def _ways(look: Look) -> Iterator[str]:
    """Yield the commands that approve, with fleetgate and with kubectl."""
    for gate in look.view.gates.approvals:
        request = look.evidence.approvals.get(gate.request)
        yield words.approve_command(look.view, gate)
        yield approval_events.kubectl_approve_command(
            kind=look.scope.approval,
            request=gate.request,
            namespace=look.view.namespace,
            generation=request.metadata.generation if request else 1,
            now=look.now,
        )
