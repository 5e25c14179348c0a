"""An engine and a bridge in the test's own process, as a worker runs them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from temporalio.client import Client
from temporalio.worker import Worker

from activities.registry import all_activities
from bridge import Bridge, BridgeSettings
from hub import Hub


@asynccontextmanager
async def running_engine(
    hub: Hub, temporal: Client, *, settings: BridgeSettings
) -> AsyncIterator[None]:
    """Drive the runs of a hub; engines of several test processes share the work."""
    worker = Worker(
        temporal,
        task_queue=settings.task_queue,
        activities=all_activities(hub, temporal),
        max_concurrent_activities=200,
        # Those whose process has ended hold up a run for no longer.
        sticky_queue_schedule_to_start_timeout=timedelta(seconds=1),
    )
    bridge = Bridge(hub, temporal, settings=settings)
    async with worker:
        bridging = asyncio.create_task(bridge.run())
        await bridge.ready()
        yield
        bridging.cancel()
        await asyncio.gather(bridging, return_exceptions=True)
