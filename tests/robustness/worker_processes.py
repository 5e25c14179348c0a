"""Workers in their own processes, which a test may kill, pause, or run with a wrong clock."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from deploy.local import ports
from tests.support.eventually import eventually, patience
from tests.support.suspending import suspend

ROOT = Path(__file__).parents[2]
FAKETIME = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
"""The library of Debian's package `libfaketime`, if it is installed."""


NewWorker = Callable[..., "WorkerProcess"]
"""Creates a worker; what it accepts is said by the fixture `new_worker`."""


@dataclass
class WorkerProcess:
    """One worker with engine and bridge; the content of the file `clock` shifts its wall clock.

    With an `identity`, it cannot tell that a predecessor on this machine has ended.
    """

    kubeconfig: Path
    temporal_address: str
    task_queue: str
    log: Path
    clock: Path | None = None
    root: Path = ROOT
    """Root of the sources that it runs."""
    roles: str = "engine,bridge"
    identity: str = ""
    _address: str = field(default_factory=lambda: f"{ports.LOOPBACK}:{ports.choose()}")
    _process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Start the worker, and wait until it is ready."""
        self._begin()
        await eventually(self._readiness, lambda status: status == 200)

    def _begin(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, self.root / "worker.py"], env=self._environment(), stderr=log
            )

    def kill(self) -> None:
        """Kill the worker, if it is running."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def terminate(self) -> int:
        """Stop the worker gracefully, and return its exit code."""
        assert self._process is not None
        self._process.terminate()
        code = self._process.wait(timeout=patience())
        self._process = None
        return code

    def pause(self) -> None:
        """Suspend the process, as if its machine were suspended."""
        assert self._process is not None
        suspend(self._process.pid)

    def resume(self) -> None:
        """End the pause."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def _environment(self) -> dict[str, str]:
        shifted = {}
        if self.clock is not None:
            shifted = {
                "LD_PRELOAD": str(FAKETIME[0]),
                "FAKETIME_TIMESTAMP_FILE": str(self.clock),
                "FAKETIME_NO_CACHE": "1",
                # The wall clock of a machine may jump; its monotonic clock does not.
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            }
        return (
            os.environ
            | shifted
            | {
                "KUBECONFIG": str(self.kubeconfig),
                "TEMPORAL_ADDRESS": self.temporal_address,
                "FLEETGATE_TASK_QUEUE": self.task_queue,
                "FLEETGATE_RUN": self.roles,
                "FLEETGATE_IDENTITY": self.identity,
                "FLEETGATE_PLACEMENT": "external",
                "FLEETGATE_METRICS_ADDRESS": self._address,
            }
        )

    async def _readiness(self) -> int:
        return (await self._said())[0]

    async def standing(self) -> str:
        """Its answer about readiness, what it leads, and where it stands by."""
        return (await self._said())[1]

    async def _said(self) -> tuple[int, str]:
        assert self._process is not None
        assert self._process.poll() is None, self.log.read_text()
        url = f"http://{self._address}/readyz"
        try:
            async with aiohttp.ClientSession() as http, http.get(url) as found:
                return found.status, await found.text()
        except aiohttp.ClientConnectorError:
            return 0, ""
