"""A worker ends when it is told to, whatever Temporal's SDK waits for."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from tests.support.servers import Servers
from tests.support.temporal_server import TemporalServer
from wiring.temporal import polling

SOON = timedelta(seconds=1)
GIVES_UP = "Temporal's worker does not end"


class Stubborn:
    """An activity that outlives its cancellation, as one does that the SDK has lost track of."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()

    @activity.defn
    async def run_on(self) -> None:
        self.begun.set()
        while not self.may_end.is_set():
            try:
                await self.may_end.wait()
            except asyncio.CancelledError:
                continue


@workflow.defn
class RunsOn:
    @workflow.run
    async def run(self) -> None:
        await workflow.execute_activity("run_on", start_to_close_timeout=timedelta(hours=1))


def worker(client: Client, queue: str, stubborn: Stubborn) -> Worker:
    return Worker(
        client,
        task_queue=queue,
        workflows=[RunsOn],
        activities=[stubborn.run_on],
        workflow_runner=UnsandboxedWorkflowRunner(),
    )


@pytest.fixture
async def own_temporal(servers: Servers, tmp_path: Path) -> AsyncIterator[TemporalServer]:
    async with TemporalServer(servers, tmp_path).running() as server:
        yield server


async def test_an_activity_that_never_ends_does_not_hold_up_the_worker(
    temporal_address: str, unique: str, caplog: pytest.LogCaptureFixture
) -> None:
    client, stubborn = await Client.connect(temporal_address), Stubborn()
    async with polling(worker(client, unique, stubborn), within=SOON):
        await client.start_workflow(RunsOn.run, id=unique, task_queue=unique)
        await stubborn.begun.wait()
    assert GIVES_UP in caplog.text
    stubborn.may_end.set()


async def test_a_worker_whose_temporal_is_gone_ends(
    own_temporal: TemporalServer, unique: str
) -> None:
    client = await Client.connect(own_temporal.address)
    async with polling(worker(client, unique, Stubborn()), within=SOON):
        await asyncio.sleep(0.2)
        await own_temporal.kill()
        await asyncio.sleep(0.2)


async def test_a_worker_that_fails_ends_what_runs_beside_it(
    temporal_address: str, unique: str
) -> None:
    client = await Client.connect(temporal_address, namespace="not-there")
    with pytest.raises(RuntimeError, match="not-there"):
        async with polling(worker(client, unique, Stubborn())):
            await asyncio.Event().wait()
