"""The Temporal server ends and comes back with what its file holds: runs go on."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from deploy.local import ports
from deploy.local.processes import Processes
from deploy.local.services import ensure
from deploy.local.temporal import temporal as temporal_service
from tests.robustness.conftest import running_engine
from tests.robustness.rollouts import Rollout, Rollouts
from tests.support.servers import PrivateApiServer, Servers
from workflows.plugin import connect


class TemporalServer:
    """A dev server of the test's own."""

    def __init__(self, servers: Servers, folder: Path) -> None:
        self._processes = Processes(pids=folder / "pids", logs=folder / "logs")
        self._service = temporal_service(
            servers.binaries.temporal,
            database=folder / "temporal.sqlite",
            port=ports.choose(),
            ui_port=ports.choose(),
        )

    @property
    def address(self) -> str:
        return self._service.address

    async def start(self) -> None:
        await ensure(self._service, processes=self._processes)

    async def stop(self) -> None:
        names = [self._service.name]
        await asyncio.to_thread(self._processes.stop, names, grace=timedelta(seconds=3))

    async def kill(self) -> None:
        running = self._processes.find(self._service.name)
        assert running is not None
        running.process.kill()
        await asyncio.to_thread(running.process.wait)


@pytest.fixture
async def own_temporal(servers: Servers, tmp_path: Path) -> AsyncIterator[TemporalServer]:
    server = TemporalServer(servers, tmp_path)
    await server.start()
    yield server
    await server.stop()


@pytest.mark.parametrize("graceful", [True, False])
async def test_runs_outlive_a_restart_of_temporal_in_mid_stage_and_at_a_gate(
    pair: Rollouts,
    other_pair: Rollouts,
    server: PrivateApiServer,
    own_temporal: TemporalServer,
    graceful: bool,
) -> None:
    end = own_temporal.stop if graceful else own_temporal.kill
    client = await connect({"TEMPORAL_ADDRESS": own_temporal.address})
    async with running_engine(server.kubeconfig, client):
        await (pair + other_pair).each(lambda each: each.begin(gate=True))
        await pair.each(lambda each: each.written("one"))
        await other_pair.each(Rollout.at_gate)
        await end()
        await pair.each(lambda each: each.update("one"))
        await other_pair.each(lambda each: each.approved(f"{each.name}-before-two"))
        await own_temporal.start()
        await pair.each(Rollout.at_gate_asked)
        await pair.each(lambda each: each.approved(f"{each.name}-before-two"))
        await (pair + other_pair).each(Rollout.finish)
