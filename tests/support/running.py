"""Running a part of the product during a test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Protocol

from tests.support.eventually import patience


class Part(Protocol):
    """A task that runs until it is cancelled, and becomes ready at some point."""

    async def run(self) -> None:
        """Run until cancelled."""

    async def ready(self) -> None:
        """Wait until it is ready."""


@asynccontextmanager
async def running(part: Part) -> AsyncIterator[None]:
    """Run a part while the context is open, and stop it as a signal would."""
    task = asyncio.create_task(part.run())
    try:
        async with asyncio.timeout(patience()):
            await part.ready()
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
