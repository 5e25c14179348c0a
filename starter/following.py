"""Following objects of the hub as they change."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from api.kinds import Kind
from hub import Cache, Change, Hub


@asynccontextmanager
async def follow(
    hub: Hub, kind: Kind, *, namespace: str = "", labels: str = "", name: str = ""
) -> AsyncIterator[AsyncIterator[Change]]:
    """Changes of the objects that match, first of all those that are there."""
    seen: asyncio.Queue[Change] = asyncio.Queue()
    fields = f"metadata.name={name}" if name else ""
    cache = Cache(hub, kind, namespace=namespace, labels=labels, fields=fields)
    cache.subscribe(seen.put_nowait)
    mirror = asyncio.create_task(cache.run())
    try:
        await cache.ready()
        yield _drain(seen)
    finally:
        mirror.cancel()
        with suppress(asyncio.CancelledError):
            await mirror


async def _drain(seen: asyncio.Queue[Change]) -> AsyncIterator[Change]:
    while True:
        yield await seen.get()
