"""A part that runs only while its process leads it, on a real API server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from prometheus_client import CollectorRegistry, Gauge

from api.kinds import CONFIG_MAP, LEASE
from hub import Fenced, Hub, Term
from telemetry import LeadershipMetrics, ProcessHealth
from tests.support.eventually import eventually, patience
from wiring.leading import LedPart, Part, ProcessContext, Seat


class Work:
    """A part with a metric that shows that it runs."""

    def __init__(self, term: Term, hub: Hub, registry: CollectorRegistry) -> None:
        self.term, self.hub = term, hub
        self._running = Gauge("running", "Whether it runs", registry=registry)

    async def run(self) -> None:
        self._running.set(1)
        await asyncio.Event().wait()

    async def ready(self) -> None:
        pass


class Process:
    """A process with one part that needs leadership."""

    def __init__(self, hub: Hub, lease: str, identity: str) -> None:
        self.registry, self.health = CollectorRegistry(), ProcessHealth()
        self.made: list[Work] = []
        context = ProcessContext(
            hub=hub,
            registry=self.registry,
            health=self.health,
            leaderships=LeadershipMetrics(self.registry),
            identity=identity,
        )
        seat = Seat(part="work", lease=lease, namespace="default")
        self.part = LedPart(seat, self._make, context)

    def _make(self, term: Term, hub: Hub, registry: CollectorRegistry) -> Part:
        self.made.append(Work(term, hub, registry))
        return self.made[-1]

    def shows(self, name: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(name, labels)


@asynccontextmanager
async def at_work(process: Process) -> AsyncIterator[Process]:
    running = asyncio.create_task(process.part.run())
    try:
        await asyncio.wait_for(process.part.ready(), timeout=patience())
        yield process
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@pytest.fixture
def process(hub: Hub, unique: str) -> Callable[[str], Process]:
    """Create processes that compete for one Lease."""
    return lambda identity: Process(hub, unique, identity)


async def test_a_process_that_stands_by_is_ready_but_does_nothing_until_it_leads(
    process: Callable[[str], Process],
) -> None:
    async with at_work(process("b-first")) as first:
        assert first.health.standings == {"work": "leads"}
        assert first.shows("fleetgate_leader", part="work") == 1
        assert first.shows("running") == 1
        second = process("a-second")
        running = asyncio.create_task(second.part.run())
        await asyncio.wait_for(second.part.ready(), timeout=patience())
        assert second.health.standings == {"work": "stands by, b-first leads"}
        assert second.shows("fleetgate_leader", part="work") == 0
        assert second.shows("running") is None
        assert second.made == []
    await eventually(lambda: second.shows("running") == 1)
    assert second.health.standings == {"work": "leads"}
    assert first.shows("running") is None
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_each_term_gets_a_new_part_and_the_previous_one_cannot_write(
    process: Callable[[str], Process], hub: Hub, unique: str
) -> None:
    async with at_work(process("a")) as only:
        body = {"metadata": {"name": unique, "namespace": "default"}}
        await only.made[0].hub.apply(CONFIG_MAP, body)
        await hub.delete(LEASE, unique, namespace="default")
        await eventually(lambda: len(only.made) == 2 and only.shows("running") == 1)
        await only.made[1].hub.apply(CONFIG_MAP, body)
        with pytest.raises(Fenced):
            await only.made[0].hub.delete(CONFIG_MAP, unique, namespace="default")
        assert await only.made[0].hub.find(CONFIG_MAP, unique, namespace="default")
