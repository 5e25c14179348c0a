"""Parts of the work that one process does at a time, while others stand by."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from prometheus_client import CollectorRegistry

from hub import Election, Hub, Standing, Term
from telemetry import Health, LeadershipMetrics

logger = logging.getLogger(__name__)


class Part(Protocol):
    """Something that runs until it is cancelled, and is ready at some point."""

    async def run(self) -> None:
        """Work until cancelled."""

    async def ready(self) -> None:
        """Wait until it does what it is there for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """What is led, and by which Lease processes take turns at it."""

    part: str
    lease: str
    namespace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the parts of one process share."""

    hub: Hub
    registry: CollectorRegistry
    health: Health
    leaderships: LeadershipMetrics
    identity: str


Make = Callable[[Term, Hub, CollectorRegistry], Part]
"""Makes a part anew for each term, from a hub behind the term's fence and a registry for it."""


class LedPart:
    """A part that runs only while this process leads it.

    It is made anew each time, so that it begins with what the hub says then, and nothing of an
    earlier term is left. What it measures is shown while it leads.
    """

    def __init__(self, seat: Seat, make: Make, around: Surroundings) -> None:
        self._part, self._make, self._around = seat.part, make, around
        self._is_ready = asyncio.Event()
        self._election = Election(
            around.hub,
            name=seat.lease,
            namespace=seat.namespace,
            identity=around.identity,
            tell=self._tell,
        )
        around.leaderships.note(seat.part, leads=False)

    async def run(self) -> None:
        """Take turns until cancelled; what the part raises ends it. Raises HubError."""
        await self._election.run(self._lead)

    async def ready(self) -> None:
        """Wait until this process leads and works, or has seen that another one leads."""
        await self._is_ready.wait()

    async def _lead(self, term: Term) -> None:
        hub, registry = self._around.hub.fenced(term.check), CollectorRegistry()
        part = self._make(term, hub, registry)
        self._around.registry.register(registry)
        try:
            await asyncio.gather(part.run(), self._announce(part))
        finally:
            self._around.registry.unregister(registry)

    async def _announce(self, part: Part) -> None:
        await part.ready()
        logger.info("%s: leading, and in step with the hub", self._part)
        self._is_ready.set()

    def _tell(self, standing: Standing) -> None:
        self._around.leaderships.note(self._part, leads=standing.leads)
        told = "leads" if standing.leads else f"stands by, {standing.leader or 'nobody'} leads"
        self._around.health.standings[self._part] = told
        if not standing.leads and standing.leader:
            logger.info("%s: standing by, %s leads", self._part, standing.leader)
            self._is_ready.set()
