"""Each lane has its own connections, and a dropped connection leaves no open socket."""

import asyncio
import gc
import resource
from collections.abc import Iterator
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from api.kinds import CONFIG_MAP
from hub import Cache, Hub, allow_many_files
from tests.hub.support import config_map, fill, mirrored, names, until
from tests.support.limits import PATIENT

FEW = replace(
    PATIENT, connections=2, watch_duration=timedelta(minutes=9), silence=timedelta(minutes=10)
)
"""No watch ends, and frees its connection for another one, during a test."""


async def test_watches_take_no_connection_from_requests(hub_kubeconfig: Path, unique: str) -> None:
    async with await Hub.connect(hub_kubeconfig, limits=FEW) as hub, AsyncExitStack() as stack:
        await fill(hub, unique, [])
        caches = [
            await stack.enter_async_context(mirrored(Cache(hub, CONFIG_MAP, namespace=unique)))
            for _ in range(2 * FEW.connections)
        ]
        await hub.create(CONFIG_MAP, config_map("a", unique))
        for cache in caches:
            await until(cache, partial(_has, cache, "a"))


def _has(cache: Cache, *wanted: str) -> bool:
    return names(cache.items()) == list(wanted)


@pytest.fixture
def few_files() -> Iterator[None]:
    """Set a low soft limit of open files, as on many systems, that the process may raise."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, before[1] - 1), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("few_files")
def test_the_limit_of_open_files_is_raised_to_the_maximum() -> None:
    allow_many_files()
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert limit == most


@pytest.mark.parametrize("milliseconds", range(0, 20, 2))
async def test_a_program_that_ends_in_the_middle_of_a_watch_leaves_no_socket_open(
    hub_kubeconfig: Path, milliseconds: int
) -> None:
    """End before the watch starts, while it opens or while it waits; an open socket is an error."""
    patience = timedelta(milliseconds=milliseconds)
    for _ in range(5):
        await asyncio.to_thread(asyncio.run, _leave_a_watch(hub_kubeconfig, after=patience))
    gc.collect()


async def _leave_a_watch(kubeconfig: Path, *, after: timedelta) -> None:
    async with await Hub.connect(kubeconfig) as hub:
        version = (await hub.list(CONFIG_MAP, namespace="default")).resource_version
        watching = asyncio.create_task(_watch(hub, version))
        await asyncio.sleep(after.total_seconds())
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


async def _watch(hub: Hub, version: str) -> None:
    changes = hub.watch(CONFIG_MAP, resource_version=version, namespace="default")
    async with aclosing(changes) as events:
        async for _ in events:
            pass
