"""Telling Temporal that an activity's worker is alive, so that a lost one is noticed soon."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Final

from temporalio import activity

HEARTBEAT_EVERY: Final = timedelta(seconds=1)
"""Temporal's client sends fewer of them, by the activity's heartbeat timeout."""


@asynccontextmanager
async def heartbeating() -> AsyncIterator[None]:
    """Heartbeat for the time of an `async with`; what is over before the first one costs none.

    Not without a heartbeat timeout: nobody listens, and a local activity must not.
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
