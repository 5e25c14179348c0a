"""Caches that several tasks share while they need them.

Watches follow the work: the first user of a selection starts its cache, and a while after the
last one it ends. So memory and connections grow with what is being looked at, and no more.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextvars import Context
from dataclasses import dataclass

from api.kinds import Kind
from hub.cache import Cache
from hub.client import Hub


@dataclass(frozen=True, slots=True)
class _Selection:
    kind: Kind
    namespace: str
    labels: str
    fields: str
    metadata_only: bool


@dataclass(slots=True)
class _Shared:
    cache: Cache
    task: asyncio.Task[None]
    users: int = 0
    ending: asyncio.TimerHandle | None = None


class SharedCaches:
    """Hands out one running cache for each selection of objects.

    `hub.limits.linger` after its last user left, a cache is stopped and forgotten.
    """

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._shared: dict[_Selection, _Shared] = {}
        self._stopping: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """Caches that run."""
        return len(self._shared)

    @contextlib.asynccontextmanager
    async def use(
        self,
        kind: Kind,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        metadata_only: bool = False,
    ) -> AsyncIterator[Cache]:
        """A cache that has its first list, for the time of an `async with`.

        Waits as long as the API server does not answer or does not serve the kind.
        """
        selection = _Selection(kind, namespace, labels, fields, metadata_only)
        shared = self._acquire(selection)
        try:
            await shared.cache.ready()
            yield shared.cache
        finally:
            self._release(selection, shared)

    def running(
        self,
        kind: Kind,
        *,
        namespace: str = "",
        labels: str = "",
        fields: str = "",
        metadata_only: bool = False,
    ) -> Cache | None:
        """The cache of a selection if somebody uses it now; starts none."""
        shared = self._shared.get(_Selection(kind, namespace, labels, fields, metadata_only))
        return shared.cache if shared and shared.users else None

    async def close(self) -> None:
        """Stop all caches now, in use or not."""
        for selection in tuple(self._shared):
            self._stop(selection)
        await asyncio.gather(*self._stopping, return_exceptions=True)

    def _acquire(self, selection: _Selection) -> _Shared:
        shared = self._shared.get(selection) or self._start(selection)
        shared.users += 1
        if shared.ending:
            shared.ending.cancel()
            shared.ending = None
        return shared

    def _start(self, selection: _Selection) -> _Shared:
        cache = Cache(
            self._hub,
            selection.kind,
            namespace=selection.namespace,
            labels=selection.labels,
            fields=selection.fields,
            metadata_only=selection.metadata_only,
        )
        task = asyncio.create_task(
            cache.run(),
            name=f"cache of {selection.kind.plural}",
            # It serves others too, so what it logs is not about its first user's work.
            context=Context(),
        )
        self._shared[selection] = _Shared(cache, task)
        return self._shared[selection]

    def _release(self, selection: _Selection, shared: _Shared) -> None:
        shared.users -= 1
        if shared.users == 0 and self._shared.get(selection) is shared:
            linger = self._hub.limits.linger.total_seconds()
            shared.ending = asyncio.get_running_loop().call_later(linger, self._stop, selection)

    def _stop(self, selection: _Selection) -> None:
        shared = self._shared.pop(selection)
        if shared.ending:
            shared.ending.cancel()
        shared.task.cancel()
        # Kept until it has ended, or the event loop might drop it half way.
        self._stopping.add(shared.task)
        shared.task.add_done_callback(self._stopping.discard)
