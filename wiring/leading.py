"""Roles that only one process at a time performs, while others stand by."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from prometheus_client import CollectorRegistry

from hub import Election, Hub, Standing, Term
from telemetry import LeadershipMetrics, ProcessHealth

logger = logging.getLogger(__name__)


class Part(Protocol):
    """A task that runs until it is cancelled, and becomes ready at some point."""

    async def run(self) -> None:
        """Run until cancelled."""

    async def ready(self) -> None:
        """Wait until it is fully working."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A role with leader election, and the Lease that it uses."""

    part: str
    """Name of the role."""
    lease: str
    """Name of the Lease."""
    namespace: str
    """Namespace of the Lease."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessContext:
    """What all parts of one process share."""

    hub: Hub
    registry: CollectorRegistry
    health: ProcessHealth
    leaderships: LeadershipMetrics
    identity: str


Make = Callable[[Term, Hub, CollectorRegistry], Part]
"""Creates a part for a term, from a hub client fenced by the term and the term's own registry."""


class LedPart:
    """A part that runs only while this process leads it.

    It is created again for each term, so that it starts from the current state of the hub and keeps
    nothing from an earlier term. Its metrics are shown while it leads.
    """

    def __init__(self, seat: Seat, make: Make, context: ProcessContext) -> None:
        self._part, self._make, self._context = seat.part, make, context
        self._is_ready = asyncio.Event()
        self._election = Election(
            context.hub,
            name=seat.lease,
            namespace=seat.namespace,
            identity=context.identity,
            on_change=self._note,
        )
        context.leaderships.note(seat.part, leads=False)

    async def run(self) -> None:
        """Take part in the election until cancelled, or until the part raises.

        Raises HubError, and whatever the part raises.
        """
        await self._election.run(self._lead)

    async def ready(self) -> None:
        """Wait until this process leads and its part is ready, or another process leads."""
        await self._is_ready.wait()

    async def _lead(self, term: Term) -> None:
        hub, registry = self._context.hub.fenced(term.check), CollectorRegistry()
        part = self._make(term, hub, registry)
        self._context.registry.register(registry)
        try:
            await asyncio.gather(part.run(), self._announce(part))
        finally:
            self._context.registry.unregister(registry)

    async def _announce(self, part: Part) -> None:
        await part.ready()
        logger.info("%s: leading, and in sync with the hub", self._part)
        self._is_ready.set()

    def _note(self, standing: Standing) -> None:
        self._context.leaderships.note(self._part, leads=standing.leads)
        standing_now = (
            "leads" if standing.leads else f"stands by, {standing.leader or 'nobody'} leads"
        )
        self._context.health.standings[self._part] = standing_now
        if not standing.leads and standing.leader:
            logger.info("%s: standing by, %s leads", self._part, standing.leader)
            self._is_ready.set()
