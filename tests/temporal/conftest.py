"""Fixtures for a Temporal secured as in production, and a hub of these tests' own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from temporalio.client import Client

from api.kinds import Scope
from bridge import Bridge, BridgeSettings
from hub import Hub, SharedCaches
from tests.support.guarded_temporal import Authority
from tests.support.hand_placement import HandPlacement
from tests.support.servers import Servers
from wiring import Settings
from wiring.temporal import engine


@pytest.fixture(scope="package")
async def own_kubeconfig(servers: Servers) -> AsyncIterator[Path]:
    """Kubeconfig of a hub whose runs no other test's engine takes over."""
    async with servers.own_hub() as server:
        yield server.kubeconfig


@pytest.fixture(scope="package")
async def own_hub(own_kubeconfig: Path) -> AsyncIterator[Hub]:
    """A client of that hub."""
    async with await Hub.connect(own_kubeconfig) as client:
        yield client


@pytest.fixture
def placement(own_hub: Hub, scope: Scope, unique: str) -> HandPlacement:
    """A placement that is not on the hub yet."""
    return HandPlacement(own_hub, scope, unique, namespace=unique if scope.run.namespaced else "")


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """An authority that signs certificates."""
    return Authority(tmp_path, "authority")


@asynccontextmanager
async def driving(hub: Hub, client: Client, settings: Settings) -> AsyncIterator[None]:
    """Run engine and bridge as a worker with these settings would, while the context is open."""
    caches = SharedCaches(hub)
    bridging = BridgeSettings(task_queue=settings.task_queue, stuck_after=settings.stuck_after)
    bridge = Bridge(hub, client, settings=bridging, caches=caches)
    async with engine(client, hub, caches, settings):
        running = asyncio.create_task(bridge.run())
        try:
            await bridge.ready()
            yield
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await caches.close()
