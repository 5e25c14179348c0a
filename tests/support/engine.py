"""An engine and a bridge in the test's own process, run as a worker runs them."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client
from temporalio.worker import Worker

from activities.registry import all_activities
from bridge import Bridge, BridgeSettings
from hub import Hub
from wiring.temporal import polling
from workflows.plugin import connect

Stop = Future[None]
"""Resolved when the engine of `engine_beside` may end."""


@asynccontextmanager
async def running_engine(
    hub: Hub, temporal: Client, *, settings: BridgeSettings, bridge_hub: Hub | None = None
) -> AsyncIterator[None]:
    """Drive the runs of a hub; engines of several test processes share the work.

    The bridge may use a client of its own, with other rights.
    """
    worker = Worker(
        temporal,
        task_queue=settings.task_queue,
        activities=all_activities(hub, temporal),
        max_concurrent_activities=200,
        # The longest that a run waits for an engine whose process has ended.
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
    )
    bridge = Bridge(bridge_hub or hub, temporal, settings=settings)
    async with polling(worker):
        bridging = asyncio.create_task(bridge.run())
        await bridge.ready()
        yield
        bridging.cancel()
        await asyncio.gather(bridging, return_exceptions=True)


@asynccontextmanager
async def engine_beside(
    kubeconfig: Path, temporal_address: str, *, settings: BridgeSettings
) -> AsyncIterator[None]:
    """Drive the runs of a hub in an event loop of its own.

    Many tests share such an engine, and some of them block the loop in which they run.
    """
    started: Future[Stop] = Future()
    work = _work(kubeconfig, temporal_address, settings, started)
    working = asyncio.create_task(asyncio.to_thread(asyncio.run, work))
    stop = await asyncio.wrap_future(started)
    yield
    stop.set_result(None)
    await working


async def _work(
    kubeconfig: Path, address: str, settings: BridgeSettings, started: Future[Stop]
) -> None:
    try:
        async with await Hub.connect(kubeconfig) as hub:
            temporal = await connect({"TEMPORAL_ADDRESS": address})
            async with running_engine(hub, temporal, settings=settings):
                stop = Stop()
                started.set_result(stop)
                await asyncio.wrap_future(stop)
    except BaseException as error:
        if not started.done():
            started.set_exception(error)
        raise
