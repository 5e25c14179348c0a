"""Following the hub's audit log and the history of its etcd, across their restarts."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, Final

import aiohttp

from api.kinds import PLACEMENT_GROUP
from tests.soak.history import WATCHED, History, Write

_LOOK_AGAIN: Final = 0.3
"""Seconds between two reads of the audit log, and between two attempts to reach etcd."""
_SILENCE: Final = 20
"""Seconds without an event after which the watch is restarted: etcd may have been paused."""


class AuditReader:
    """Adds every new line of the audit log to the history."""

    def __init__(self, log: Path, history: History) -> None:
        self._log = log
        self._history = history
        self._read = 0
        self._rest = b""

    async def run(self) -> None:
        """Read until cancelled."""
        while True:
            self.catch_up()
            await asyncio.sleep(_LOOK_AGAIN)

    def catch_up(self) -> None:
        """Read all new lines."""
        if not self._log.exists():
            return
        with self._log.open("rb") as log:
            log.seek(self._read)
            found = log.read()
        self._read += len(found)
        *lines, self._rest = (self._rest + found).split(b"\n")
        for line in lines:
            self._history.tell(line)


class StoreReader:
    """Adds every change of the watched objects in etcd to the history."""

    def __init__(self, etcd: str, *, prefix: str, history: History) -> None:
        """`prefix` is the etcd prefix of the hub's API server."""
        self._etcd = etcd
        self._root = f"/{prefix}/{PLACEMENT_GROUP}/"
        self._history = history
        self._revision = 0

    async def run(self) -> None:
        """Follow until cancelled, from the start and without gaps."""
        timeout = aiohttp.ClientTimeout(total=None, sock_read=_SILENCE)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            while True:
                try:
                    async for line in self._lines(session):
                        if not self._take(json.loads(line).get("result", {})):
                            break
                except (aiohttp.ClientError, OSError, ValueError, TimeoutError):
                    await asyncio.sleep(_LOOK_AGAIN)

    async def _lines(self, session: aiohttp.ClientSession) -> AsyncIterator[bytes]:
        request = {
            "key": coded(self._root),
            "range_end": coded(self._root[:-1] + chr(ord("/") + 1)),
            "start_revision": self._revision + 1,
        }
        async with session.post(
            f"{self._etcd}/v3/watch", json={"create_request": request}
        ) as answer:
            rest = b""
            async for chunk in answer.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    yield line

    def _take(self, result: dict[str, Any]) -> bool:
        """Add a result of the watch; return whether the watch continues."""
        if forgotten := int(result.get("compact_revision", 0)):
            # An etcd shared by the session, whose compacted revisions are older than this hub.
            self._revision = forgotten
            return False
        for event in result.get("events", []):
            for write in self._writes(event):
                self._history.store(write)
            self._revision = max(self._revision, int(event["kv"]["mod_revision"]))
        return True

    def _writes(self, event: dict[str, Any]) -> Iterator[Write]:
        key = base64.b64decode(event["kv"]["key"]).decode().removeprefix(self._root)
        resource, *namespace, name = key.split("/")
        if resource not in WATCHED:
            return
        value = event["kv"].get("value")
        yield Write(
            address=(resource, "".join(namespace), name),
            revision=int(event["kv"]["mod_revision"]),
            body=json.loads(base64.b64decode(value)) if value else None,
        )


def coded(text: str) -> str:
    """Return text encoded like keys and values in etcd's JSON."""
    return base64.b64encode(text.encode()).decode()
