"""A bridge that tests can start and stop."""

import asyncio
from contextlib import suppress

from temporalio.client import Client

from bridge import Bridge, BridgeSettings
from hub import Hub


class BridgeProcess:
    """A bridge that a test can stop and start again; it remembers nothing in between."""

    def __init__(self, hub: Hub, temporal: Client, *, task_queue: str) -> None:
        self._hub = hub
        self._temporal = temporal
        self._settings = BridgeSettings(task_queue=task_queue)
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start it, and wait until it is ready."""
        bridge = Bridge(self._hub, self._temporal, settings=self._settings)
        self._running = asyncio.create_task(bridge.run())
        await bridge.ready()

    async def stop(self) -> None:
        """Stop it, if it runs."""
        if self._running is None:
            return
        self._running.cancel()
        with suppress(asyncio.CancelledError):
            await self._running
        self._running = None
