"""Waiting for many objects at once with a watch, because polling would add load."""

import asyncio
from collections.abc import Callable, Collection
from time import monotonic

from api.kinds import Kind
from hub import Cache, Change, Hub, Json


async def all_are(
    hub: Hub, kind: Kind, names: Collection[str], wanted: Callable[[Json], bool]
) -> dict[str, float]:
    """Wait until all these objects are as wanted, and return the time at which each was."""
    reached: dict[str, float] = {}
    everything = asyncio.Event()

    def note(change: Change) -> None:
        name = change.key[1]
        if name in names and change.new and wanted(change.new):
            reached.setdefault(name, monotonic())
        if len(reached) == len(names):
            everything.set()

    cache = Cache(hub, kind)
    cache.subscribe(note)
    caching = asyncio.create_task(cache.run())
    await everything.wait()
    caching.cancel()
    return reached
