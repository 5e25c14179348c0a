"""Caches that several tasks share while they need them.

The first user of a selection starts its cache, which ends a while after its last user. So memory
and connections grow only with the number of selections in use.
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
"""Key of a cache: a kind and a selection of its objects."""


@dataclass(slots=True)
class _Shared:
    cache: Cache
    task: asyncio.Task[None]
    users: int = 0
    ending: asyncio.TimerHandle | None = None


class SharedCaches:
    """One running cache per selection of objects.

    A cache is stopped `hub.limits.linger` after its last user has left.
    """

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._shared: dict[_Use, _Shared] = {}
        self._stopping: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """Return the number of running caches."""
        return len(self._shared)

    @contextlib.asynccontextmanager
    async def use(self, kind: Kind, **selection: Unpack[Selection]) -> AsyncIterator[Cache]:
        """Yield a cache whose first list is complete, for use in an `async with`.

        Waits until the API server answers and serves the kind.
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
        """Return the cache of a selection if it is in use, without starting one."""
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
            # The cache serves other users too, so its logs must not carry its first user's context.
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
        # Keep a reference until it has ended, or the task may be garbage-collected midway.
        self._stopping.add(shared.task)
        shared.task.add_done_callback(self._stopping.discard)


def _use(kind: Kind, selection: Selection) -> _Use:
    # An empty value is the same as none.
    return kind, frozenset((name, value) for name, value in selection.items() if value)
