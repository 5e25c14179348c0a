"""Check of the runs: how far the workers lag, which runs are stalled, and which forgotten."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from api.kinds import Scope
from api.runs import UpdateRun
from planning.runs import phases, views
from planning.writers import last_writer
from starter import words
from starter.doctor.findings import Command, Finding, Setup, ok, problem, warning
from starter.explain import situations
from starter.explain.looks import Attention, Evidence, Look, last_step

FORGOTTEN: Final = timedelta(days=7)
"""A run without progress for this long has probably been forgotten."""


async def driven(setup: Setup) -> Sequence[Finding]:
    """Check all runs that have not ended."""
    now = await setup.hub.clock()
    return [finding for scope in setup.scopes for finding in await _of(setup, scope, now)]


async def _of(setup: Setup, scope: Scope, now: datetime) -> list[Finding]:
    found = await setup.hub.list(scope.run, namespace=setup.target.namespace)
    runs = [UpdateRun.from_wire(each) for each in found.items]
    return judge(runs, scope=scope, now=now, command=setup.command)


def judge(
    runs: Sequence[UpdateRun], *, scope: Scope, now: datetime, command: Command
) -> list[Finding]:
    """Return a finding for each run that is stalled or forgotten, or one for all runs."""
    open_runs = [each for each in runs if phases.phase(each.status) not in phases.ENDED]
    bad = [finding for each in open_runs for finding in _troubles(each, scope, now, command)]
    if bad:
        return bad
    about = scope.run.plural
    if not open_runs:
        return [ok(about, "none active")]
    return [ok(about, f"{len(open_runs)} active, workers are {_lag(open_runs, now)}")]


def _troubles(run: UpdateRun, scope: Scope, now: datetime, command: Command) -> Iterator[Finding]:
    look = Look(run, views.of(run), scope, Evidence(), now)
    situation = situations.of(look)
    name = "/".join(filter(None, (run.metadata.namespace, run.metadata.name)))
    about = f"{scope.run.kind} {name}"
    explain = command(f"fleetgate run explain {run.metadata.name}{look.flag}")
    if situation.attention is Attention.WORKER:
        commands = [*map(command, situation.commands), explain]
        advice = f"{situation.acts} {situation.cause}".rstrip(" .")
        yield problem(about, " ".join(situation.says).rstrip("."), advice=advice, commands=commands)
        return
    since = last_step(run) or run.metadata.creation_timestamp
    if since and now - since > FORGOTTEN:
        says = f"no progress for {words.age(now - since)}"
        advice = "resume it, or delete it; clusters keep what they have"
        delete = command(f"fleetgate run delete {run.metadata.name}{look.flag}")
        yield warning(about, says, advice=advice, commands=[explain, delete])


def _lag(runs: Sequence[UpdateRun], now: datetime) -> str:
    """Return how far workers lag behind the requests; up to a second is normal."""
    waits = [now - since for each in runs if (since := _unheeded_since(each))]
    late = max(waits, default=timedelta(0))
    return f"{words.age(late)} behind" if late > timedelta(seconds=1) else "up to date"


def _unheeded_since(run: UpdateRun) -> datetime | None:
    """Return when the spec last changed if the status does not reflect that yet, else None."""
    seen = [each.observed_generation for each in run.status.conditions]
    if seen and min(seen) >= run.metadata.generation:
        return None
    writer = last_writer(run.metadata, "f:spec")
    return (writer.at if writer else None) or run.metadata.creation_timestamp
