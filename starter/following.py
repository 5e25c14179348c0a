"""Following objects on the hub as they change."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

from api.kinds import Kind
from hub import Cache, Change, Hub, Json, key_of


@asynccontextmanager
async def follow(
    hub: Hub,
    kind: Kind,
    *,
    namespace: str = "",
    labels: str = "",
    name: str = "",
    listed: Sequence[Json] = (),
    trouble: Callable[[str], None] | None = None,
) -> AsyncIterator[AsyncIterator[Change]]:
    """Provide the changes of matching objects, starting with the existing ones.

    Of those that were `listed` before, also the ones that have been deleted meanwhile.
    Continues after the API server was unreachable; `trouble` is called with the reason, and with
    an empty text once the server is back.
    """
    seen: asyncio.Queue[Change] = asyncio.Queue()
    fields = f"metadata.name={name}" if name else ""
    cache = Cache(hub, kind, namespace=namespace, labels=labels, fields=fields)
    if trouble:
        cache.on_trouble(lambda error: trouble(str(error or "")))
    cache.subscribe(seen.put_nowait)
    mirror = asyncio.create_task(cache.run())
    try:
        await cache.ready()
        for body in listed:
            namespace_of, name_of = key = key_of(body)
            if cache.get(name_of, namespace_of) is None:
                seen.put_nowait(Change(key, old=body, new=None))
        yield _drain(seen)
    finally:
        mirror.cancel()
        with suppress(asyncio.CancelledError):
            await mirror


async def _drain(seen: asyncio.Queue[Change]) -> AsyncIterator[Change]:
    while True:
        yield await seen.get()
