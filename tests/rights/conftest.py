"""fleetgate's processes on a hub of these tests' own, each with the rights shipped for it."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from temporalio.worker import Worker

from activities.registry import all_activities
from api.kinds import SCOPES, ScopeName
from bridge import Bridge, BridgeSettings
from hub import Hub
from placement import Placement
from tests.agent.credentials import grant, of_account
from tests.placement.world import World
from tests.support.servers import Servers
from workflows.plugin import connect

PARTS = ("engine", "bridge", "placement")
_ROLES = "hub-side.yaml"


@pytest.fixture(scope="session")
async def own_kubeconfig(servers: Servers) -> Path:
    """Of a hub where nobody else places or rolls out."""
    return await servers.cluster("rights")


@pytest.fixture(scope="session")
async def admin(own_kubeconfig: Path) -> AsyncIterator[Hub]:
    """The administrator of the hub, who granted the rights as the file's head says."""
    async with await Hub.connect(own_kubeconfig, manager="kubectl") as hub:
        await grant(hub, _ROLES)
        yield hub


@pytest.fixture(scope="session")
async def clients(
    admin: Hub, own_kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[dict[str, Hub]]:
    """A client for each part, with its ServiceAccount and no more."""
    folder = tmp_path_factory.mktemp("rights")
    async with AsyncExitStack() as stack:
        made = {}
        for part in PARTS:
            kubeconfig = await of_account(
                own_kubeconfig, admin, f"fleetgate-{part}", namespace="fleetgate", folder=folder
            )
            made[part] = await stack.enter_async_context(await Hub.connect(kubeconfig))
        yield made


@pytest.fixture
async def processes(
    clients: dict[str, Hub], temporal_address: str, caplog: pytest.LogCaptureFixture
) -> AsyncIterator[None]:
    """Engine, bridge and placement at work; none of them may have been refused anything."""
    with caplog.at_level(logging.INFO):
        async with _at_work(clients, temporal_address):
            yield
    refused = [each for each in caplog.messages if "forbidden" in each.lower()]
    assert refused == []


@asynccontextmanager
async def _at_work(clients: dict[str, Hub], temporal_address: str) -> AsyncIterator[None]:
    queue = f"rights-{secrets.token_hex(4)}"
    temporal = await connect({"TEMPORAL_ADDRESS": temporal_address})
    engine = clients["engine"]
    bridge = Bridge(clients["bridge"], temporal, settings=BridgeSettings(task_queue=queue))
    placement = Placement(clients["placement"])
    async with Worker(temporal, task_queue=queue, activities=all_activities(engine, temporal)):
        running = asyncio.gather(bridge.run(), placement.run())
        try:
            await asyncio.gather(bridge.ready(), placement.ready())
            yield
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


@pytest.fixture(params=list(ScopeName))
async def world(
    request: pytest.FixtureRequest, admin: Hub, processes: None, unique: str
) -> AsyncIterator[World]:
    """A placement's surroundings on that hub, for each of the two scopes."""
    del processes
    surroundings = World(admin, SCOPES[request.param], unique)
    await surroundings.prepare()
    yield surroundings
    await surroundings.clear()
