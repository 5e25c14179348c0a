"""A hub for these tests only, which they stop, kill, pause, and reach through a faulty proxy."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Protocol

import pytest
from temporalio.client import Client
from temporalio.worker import Worker

from activities.registry import all_activities
from api.kinds import SCOPES, Scope
from bridge import Bridge, BridgeSettings
from hub import Hub, Limits
from tests.robustness.rollouts import Rollout, Rollouts
from tests.robustness.worker_processes import NewWorker, WorkerProcess
from tests.support.fault_proxy import FaultProxy
from tests.support.servers import PrivateApiServer, Servers
from tests.support.temporal_server import TemporalServer
from wiring.temporal import polling
from workflows.plugin import connect

LIMITS = Limits(reconnect_most=timedelta(seconds=1))
"""An engine reconnects ten times as fast as by default, so that tests need not wait for it."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run these tests one at a time: they stop servers, and an engine takes all runs of the hub.

    Tests that share one engine may run in parallel.
    """
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and "one_engine" not in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.alone("it breaks servers that other tests use"))


@pytest.fixture(scope="package")
async def server(servers: Servers) -> AsyncIterator[PrivateApiServer]:
    """The running API server of these tests."""
    async with servers.own_hub() as started:
        yield started


@pytest.fixture
async def hub(server: PrivateApiServer) -> AsyncIterator[Hub]:
    """The tests' own client of the hub, without a proxy."""
    async with await Hub.connect(server.kubeconfig, manager="kubectl-edit") as client:
        yield client


@pytest.fixture(scope="package")
async def temporal(temporal_address: str) -> Client:
    """A client of the shared Temporal server."""
    return await connect({"TEMPORAL_ADDRESS": temporal_address})


@pytest.fixture
async def own_temporal(servers: Servers, tmp_path: Path) -> AsyncIterator[TemporalServer]:
    """A running Temporal server for one test only."""
    async with TemporalServer(servers, tmp_path).running() as server:
        yield server


@asynccontextmanager
async def running_engine(
    kubeconfig: Path, temporal: Client, *, queue: str = ""
) -> AsyncIterator[None]:
    """Run a worker and a bridge, by default on a task queue of their own."""
    queue = queue or f"robust-{secrets.token_hex(4)}"
    async with await Hub.connect(kubeconfig, limits=LIMITS) as hub:
        worker = Worker(temporal, task_queue=queue, activities=all_activities(hub, temporal))
        bridge = Bridge(hub, temporal, settings=BridgeSettings(task_queue=queue))
        async with polling(worker):
            bridging = asyncio.create_task(bridge.run())
            try:
                await bridge.ready()
                yield
            finally:
                bridging.cancel()
                await asyncio.gather(bridging, return_exceptions=True)


@pytest.fixture
def new_worker(
    server: PrivateApiServer, temporal_address: str, unique: str, tmp_path: Path
) -> Iterator[NewWorker]:
    """Create workers on one task queue; they are killed after the test."""
    made: list[WorkerProcess] = []

    def new(
        *, clock: str = "", kubeconfig: Path = server.kubeconfig, temporal: str = temporal_address
    ) -> WorkerProcess:
        """`clock` shifts the worker's wall clock, `temporal` is the address of its server."""
        file = tmp_path / f"clock-{len(made)}"
        file.write_text(f"{clock}\n")
        made.append(
            WorkerProcess(
                kubeconfig,
                temporal,
                task_queue=unique,
                log=tmp_path / f"worker-{len(made)}.log",
                clock=file if clock else None,
            )
        )
        return made[-1]

    yield new
    for worker in made:
        worker.kill()


@pytest.fixture
async def engine(server: PrivateApiServer, temporal: Client) -> AsyncIterator[None]:
    """An engine that reaches the hub without a proxy."""
    async with running_engine(server.kubeconfig, temporal):
        yield


@pytest.fixture(scope="module")
async def one_engine(server: PrivateApiServer, temporal: Client) -> AsyncIterator[None]:
    """An engine for all tests of a module, which run in parallel and do not disturb it."""
    async with running_engine(server.kubeconfig, temporal):
        yield


class Between(Protocol):
    """Starts a proxy and an engine behind it."""

    def __call__(self, seed: int = 0) -> AbstractAsyncContextManager[FaultProxy]: ...


@pytest.fixture
def proxied_engine(server: PrivateApiServer, temporal: Client, tmp_path: Path) -> Between:
    """An engine that reaches the hub through a proxy, which injects no faults until told to."""

    @asynccontextmanager
    async def between(seed: int = 0) -> AsyncIterator[FaultProxy]:
        print(f"seed of the faults: {seed}")  # noqa: T201 - to repeat a failure
        kubeconfig = tmp_path / "proxied.kubeconfig"
        async with (
            FaultProxy.between(server, kubeconfig=kubeconfig, seed=seed) as proxy,
            running_engine(kubeconfig, temporal),
        ):
            yield proxy

    return between


@pytest.fixture
def rollout(hub: Hub, scope: Scope, unique: str) -> Rollout:
    """A run that has not been created yet."""
    return Rollout(hub, scope, unique)


@pytest.fixture
def pair(hub: Hub, unique: str) -> Rollouts:
    """A run of each scope, not created yet."""
    return _one_of_each_scope(hub, unique)


@pytest.fixture
def other_pair(hub: Hub, unique: str) -> Rollouts:
    """Another run of each scope, for another moment at which the same fault occurs."""
    return _one_of_each_scope(hub, f"{unique}-o")


def _one_of_each_scope(hub: Hub, name: str) -> Rollouts:
    return Rollouts([Rollout(hub, SCOPES[each], f"{name}-{each[0]}") for each in sorted(SCOPES)])
