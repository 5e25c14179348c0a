"""Programs of the fleet, and how to tell that they work."""

import asyncio
import hashlib
import http.client
import json
import os
import shutil
import ssl
import time
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from deploy.local.errors import DiskFull, LocalFleetError, ProcessFailed
from deploy.local.processes import Command, Processes, Running

_LOOK_AGAIN: Final = timedelta(milliseconds=50)
"""How often to check whether a starting program is ready."""

_ANSWER: Final = timedelta(seconds=5)
"""How long one such check may take."""

_SHOWN_LOG_LINES: Final = 5

_ROOM_BYTES: Final = 100 << 20
"""A program that fails with less disk space than this left ran out of it: etcd reserves 64 MiB."""

Probe = Callable[[], bool]
"""Returns whether a program is ready; may block for several seconds."""


@dataclass(frozen=True, slots=True)
class Service:
    """One program of the fleet: how to run it and how to tell that it works."""

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to the environment of the caller."""
    address: str = ""
    """Address to show to users; empty for a program without one."""
    uses: tuple[str, ...] = ()
    """Addresses that it depends on: if one of them changes, the program is restarted."""
    ready: Probe | None = None
    patience: timedelta = timedelta(seconds=90)
    """How long it may take to become ready; generous, for slow machines."""

    def command(self) -> Command:
        """Return the command that starts the program."""
        settings = [self.argv, sorted(self.environment.items()), self.uses]
        digest = hashlib.sha256(json.dumps(settings).encode()).hexdigest()
        environment = {**_inherited(), **self.environment}
        return Command(
            self.name,
            self.argv,
            environment=environment,
            address=self.address,
            fingerprint=digest[:16],
        )


async def ensure(service: Service, *, processes: Processes) -> bool:
    """Start the program unless it already runs with the same settings, and wait until it is ready.

    Returns whether it was started. Raises ProcessFailed with the end of its log.
    """
    command = service.command()
    running = processes.find(service.name)
    started = running is None or running.record.fingerprint != command.fingerprint
    if started:
        await asyncio.to_thread(processes.stop, [service.name])
        running = processes.start(command)
    assert running is not None
    await _wait_until_ready(service, running, log=processes.log(service.name))
    return started


async def _wait_until_ready(service: Service, running: Running, *, log: Path) -> None:
    deadline = time.monotonic() + service.patience.total_seconds()
    while service.ready is not None and not await asyncio.to_thread(service.ready):
        if not running.is_alive():
            raise _failure(f"{service.name} exited while it was starting", log)
        if time.monotonic() > deadline:
            limit = f"{service.patience.total_seconds():g} s"
            raise _failure(f"{service.name} was not ready within {limit}", log)
        await asyncio.sleep(_LOOK_AGAIN.total_seconds())


def require_alive(name: str, *, processes: Processes) -> None:
    """Raise ProcessFailed with the end of its log if the process has died."""
    if processes.find(name) is None:
        raise _failure(f"{name} exited soon after it was started", processes.log(name))


def answers(url: str, *, token: str = "", authority: Path | None = None) -> bool:
    """Return whether a GET of the URL succeeds; `authority` holds the trusted certificates."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - built from own addresses
    try:
        context = ssl.create_default_context(cafile=authority)
        no_proxy = urllib.request.ProxyHandler({})
        secure = urllib.request.HTTPSHandler(context=context)
        opener = urllib.request.build_opener(no_proxy, secure)
        with opener.open(request, timeout=_ANSWER.total_seconds()):
            return True
    except (OSError, http.client.HTTPException):
        return False


def _inherited() -> dict[str, str]:
    """Return the caller's environment without variables that point to other installations."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("TEMPORAL_", "FLEETGATE_"))
    }


def _failure(what: str, log: Path) -> LocalFleetError:
    free = shutil.disk_usage(log.parent).free
    if free < _ROOM_BYTES:
        return DiskFull(
            f"{what}: the file system of {log.parent} has only {free >> 20} MiB left; "
            "free some space and run the command again"
        )
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    shown = "\n".join(f"  {line[:300]}" for line in lines[-_SHOWN_LOG_LINES:])
    end = f"ends with:\n{shown}" if shown else "is empty"
    return ProcessFailed(f"{what}; its log {log} {end}")
