"""A hub and an engine for these tests alone, because they stop the bridge and start it again.

On the shared hub the bridges of other tests would do its work meanwhile; here only one runs at a
time.
"""

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.worker import Worker

from activities.registry import all_activities
from api.kinds import NAMESPACE, Scope
from deploy.installing import crds
from hub import Hub
from tests.bridge.support import BridgeProcess
from tests.support.hand_placement import HandPlacement
from tests.support.servers import Servers
from wiring.temporal import polling
from workflows.plugin import connect


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests with a bridge one at a time: another bridge on the hub would do its work."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and "bridge" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.alone("it stops the only bridge of the hub"))


@pytest.fixture(scope="package")
async def hub(servers: Servers) -> AsyncIterator[Hub]:
    """A client of an API server used only by these tests."""
    server = await servers.private_api_server()
    await server.start()
    async with await Hub.connect(server.kubeconfig) as client:
        await crds.install(client, crds.definitions())
        yield client
    await server.kill()


@pytest.fixture(scope="package")
async def temporal(temporal_address: str) -> Client:
    """A client of the shared Temporal server."""
    return await connect({"TEMPORAL_ADDRESS": temporal_address})


@pytest.fixture(scope="package")
async def task_queue(hub: Hub, temporal: Client) -> AsyncIterator[str]:
    """Task queue of a worker that runs workflows and activities on the hub."""
    name = f"bridge-{secrets.token_hex(4)}"
    worker = Worker(
        temporal,
        task_queue=name,
        activities=all_activities(hub, temporal),
        max_concurrent_activities=200,
    )
    async with polling(worker):
        yield name


@pytest.fixture
async def bridge(hub: Hub, temporal: Client, task_queue: str) -> AsyncIterator[BridgeProcess]:
    """A started bridge, the only one of the hub."""
    process = BridgeProcess(hub, temporal, task_queue=task_queue)
    await process.start()
    yield process
    await process.stop()


@pytest.fixture
async def placement(hub: Hub, scope: Scope, unique: str) -> HandPlacement:
    """A placement that is not on the hub yet, in a namespace that exists."""
    namespace = unique if scope.run.namespaced else ""
    if namespace:
        await hub.apply(NAMESPACE, {"metadata": {"name": namespace}})
    return HandPlacement(hub, scope, unique, namespace=namespace)
