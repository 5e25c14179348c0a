"""Heartbeats, by which Temporal soon notices that an activity has lost its worker."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from temporalio import activity

HEARTBEAT_EVERY: Final = timedelta(seconds=1)
"""Temporal's SDK throttles them, depending on the activity's heartbeat timeout."""


@asynccontextmanager
async def heartbeating() -> AsyncIterator[None]:
    """Heartbeat during an `async with` block; a block shorter than the interval sends none.

    Do nothing for an activity without a heartbeat timeout: nothing reads the heartbeats, and a
    local activity must not send any.
    """
    if activity.info().heartbeat_timeout is None:
        yield
        return
    beating = asyncio.create_task(_beat())
    try:
        yield
    finally:
        beating.cancel()


async def _beat() -> None:
    while True:
        await asyncio.sleep(HEARTBEAT_EVERY.total_seconds())
        activity.heartbeat()
