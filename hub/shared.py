"""Caches that several tasks share while they need them.

Watches follow the work: the first user of a selection starts its cache, and a while after the
last one it ends. So memory and connections grow with what is being looked at, and no more.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextvars import Context
from dataclasses import dataclass
from typing import Unpack

from api.kinds import Kind
from hub.cache import Cache
from hub.client import Hub, Selection

_Use = tuple[Kind, frozenset[tuple[str, object]]]
"""A kind and a selection of its objects, by which a cache is found."""


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
        self._shared: dict[_Use, _Shared] = {}
        self._stopping: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """Caches that run."""
        return len(self._shared)

    @contextlib.asynccontextmanager
    async def use(self, kind: Kind, **selection: Unpack[Selection]) -> AsyncIterator[Cache]:
        """A cache that has its first list, for the time of an `async with`.

        Waits as long as the API server does not answer or does not serve the kind.
        """
        use = _use(kind, selection)
        shared = self._shared.get(use) or self._start(use, kind, selection)
        self._acquire(shared)
        try:
            await shared.cache.ready()
            yield shared.cache
        finally:
            self._release(use, shared)

    def running(self, kind: Kind, **selection: Unpack[Selection]) -> Cache | None:
        """The cache of a selection if somebody uses it now; starts none."""
        shared = self._shared.get(_use(kind, selection))
        return shared.cache if shared and shared.users else None

    async def close(self) -> None:
        """Stop all caches now, in use or not."""
        for use in tuple(self._shared):
            self._stop(use)
        await asyncio.gather(*self._stopping, return_exceptions=True)

    def _acquire(self, shared: _Shared) -> None:
        shared.users += 1
        if shared.ending:
            shared.ending.cancel()
            shared.ending = None

    def _start(self, use: _Use, kind: Kind, selection: Selection) -> _Shared:
        cache = Cache(self._hub, kind, **selection)
        task = asyncio.create_task(
            cache.run(),
            name=f"cache of {kind.plural}",
            # It serves others too, so what it logs is not about its first user's work.
            context=Context(),
        )
        self._shared[use] = _Shared(cache, task)
        return self._shared[use]

    def _release(self, use: _Use, shared: _Shared) -> None:
        shared.users -= 1
        if shared.users == 0 and self._shared.get(use) is shared:
            linger = self._hub.limits.linger.total_seconds()
            shared.ending = asyncio.get_running_loop().call_later(linger, self._stop, use)

    def _stop(self, use: _Use) -> None:
        shared = self._shared.pop(use)
        if shared.ending:
            shared.ending.cancel()
        shared.task.cancel()
        # Kept until it has ended, or the event loop might drop it half way.
        self._stopping.add(shared.task)
        shared.task.add_done_callback(self._stopping.discard)


def _use(kind: Kind, selection: Selection) -> _Use:
    # What is left empty is not said.
    return kind, frozenset((name, value) for name, value in selection.items() if value)
