"""A Temporal dev server that a test can stop, kill and wipe."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Self

from deploy.local import ports
from deploy.local.processes import Processes
from deploy.local.services import ensure
from deploy.local.temporal import temporal as temporal_service
from tests.support.servers import Servers


class TemporalServer:
    """A dev server for one test."""

    def __init__(self, servers: Servers, folder: Path, *arguments: str) -> None:
        """Prepare a server with additional arguments."""
        self._folder = folder
        self._processes = Processes(pids=folder / "pids", logs=folder / "logs")
        service = temporal_service(
            servers.binaries.temporal,
            database=folder / "temporal.sqlite",
            port=ports.choose(),
            ui_port=ports.choose(),
        )
        self._service = replace(service, argv=(*service.argv, *arguments))

    @property
    def address(self) -> str:
        """The address of the server, which stays the same after a restart."""
        return self._service.address

    async def start(self) -> None:
        """Start it, or start it again with the content of its database file."""
        await ensure(self._service, processes=self._processes)

    async def stop(self) -> None:
        """Shut it down cleanly."""
        names = [self._service.name]
        await asyncio.to_thread(self._processes.stop, names, grace=timedelta(seconds=3))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Self]:
        """Run it while the context is open."""
        await self.start()
        try:
            yield self
        finally:
            await self.stop()

    async def kill(self) -> None:
        """Kill it."""
        running = self._processes.find(self._service.name)
        assert running is not None
        running.process.kill()
        await asyncio.to_thread(running.process.wait)

    async def lose_everything(self) -> None:
        """Kill it, delete its database file, and start it again empty."""
        await self.kill()
        for file in self._folder.glob("temporal.sqlite*"):
            file.unlink()
        await self.start()
