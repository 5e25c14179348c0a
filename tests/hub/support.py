"""Helpers of the hub's tests."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from api.kinds import CONFIG_MAP, NAMESPACE
from hub import Cache, Hub, Json, Limits
from tests.support.eventually import patience

QUICK = Limits(
    connect_timeout=timedelta(seconds=30),
    watch_duration=timedelta(seconds=2),
    reconnect_most=timedelta(milliseconds=500),
    linger=timedelta(milliseconds=200),
)
"""Short durations, so that a test takes a second instead of a minute; but slow answers are still
awaited."""


def config_map(name: str, namespace: str, **data: str) -> Json:
    return {"metadata": {"name": name, "namespace": namespace}, "data": data}


async def fill(hub: Hub, namespace: str, names: list[str]) -> None:
    """Create a namespace with a ConfigMap of each name."""
    await hub.apply(NAMESPACE, {"metadata": {"name": namespace}})
    for start in range(0, len(names), 50):
        batch = names[start : start + 50]
        await asyncio.gather(*(hub.create(CONFIG_MAP, config_map(n, namespace)) for n in batch))


def names(items: list[Json]) -> list[str]:
    return [item["metadata"]["name"] for item in items]


@asynccontextmanager
async def mirrored(cache: Cache) -> AsyncIterator[Cache]:
    """Run a cache, and wait for its first list."""
    task = asyncio.create_task(cache.run())
    try:
        await asyncio.wait_for(cache.ready(), timeout=patience())
        yield cache
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(cache: Cache, expect: Callable[[], bool]) -> None:
    """Wait until `expect` is true, and check it after each change of a cache."""
    changed = asyncio.Event()
    unsubscribe = cache.subscribe(lambda _: changed.set())
    try:
        async with asyncio.timeout(patience()):
            while not expect():
                await changed.wait()
                changed.clear()
    finally:
        unsubscribe()
