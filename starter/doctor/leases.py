"""Check of the Leases: which process leads each role that runs in one process at a time."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from api.kinds import LEASE
from hub import Json
from starter import words
from starter.doctor.findings import Command, Finding, Setup, ok, problem, unknown, warning

ALWAYS: Final = ("bridge", "placement")
"""Roles without which no run starts, or nothing is placed. Each has the Lease `fleetgate-ROLE`."""
SOMETIMES: Final = ("agents",)
"""Roles with a leader only if workers run the agents of members."""


async def held(setup: Setup) -> Sequence[Finding]:
    """Check the Leases of each role in all namespaces, by the hub's clock."""
    now = await setup.hub.clock()
    parts = (*ALWAYS, *SOMETIMES)
    found = await asyncio.gather(*(_leases(setup, part) for part in parts))
    return [
        finding
        for part, leases in zip(parts, found, strict=True)
        for finding in judge(part, leases, now=now, command=setup.command)
    ]


async def _leases(setup: Setup, part: str) -> list[Json]:
    return (await setup.hub.list(LEASE, fields=_named(part))).items


def judge(
    part: str, leases: Sequence[Json], *, now: datetime, command: Command
) -> Iterator[Finding]:
    """Judge who leads a role, and whether they still do."""
    about = f"leader of {part}"
    if not leases and part in ALWAYS:
        yield unknown(
            about,
            f"the hub has no Lease fleetgate-{part}: there has never been a leader",
            advice="ignore this if no worker has this role; otherwise read the worker's log",
        )
    live = [each for each in leases if _is_live(each, now)]
    if len(live) > 1:
        homes = words.named([each["metadata"]["namespace"] for each in live])
        yield warning(
            about,
            f"there are several at the same time, in namespaces {homes}",
            advice="make all processes use the Leases of one namespace; otherwise they write the "
            "same objects",
            commands=[command(f"kubectl get leases -A --field-selector {_named(part)}")],
        )
    elif leases:
        yield _of(about, part, max(live or leases, key=_renewed), now, command)


def _of(about: str, part: str, lease: Json, now: datetime, command: Command) -> Finding:
    holder, ago = lease["spec"].get("holderIdentity"), max(now - _renewed(lease), timedelta(0))
    renewed = f"renewed its Lease {words.age(ago)} ago"
    if _is_live(lease, now):
        return ok(about, f"{holder}, {renewed}")
    return problem(
        about,
        f"none: {holder} was the last and {renewed}"
        if holder
        else "none: the last one stepped down",
        advice="start a worker, or find out from the logs why the running ones do not take over",
        commands=[command(f"fleetgate worker --run {part}")],
    )


def _named(part: str) -> str:
    return f"metadata.name=fleetgate-{part}"


def _renewed(lease: Json) -> datetime:
    renewed = lease["spec"].get("renewTime") or lease["metadata"]["creationTimestamp"]
    return datetime.fromisoformat(renewed)


def _is_live(lease: Json, now: datetime) -> bool:
    """Return whether the holder has renewed the Lease in time."""
    spec = lease["spec"]
    lasts = timedelta(seconds=spec.get("leaseDurationSeconds") or 0)
    return bool(spec.get("holderIdentity")) and now - _renewed(lease) <= lasts
