"""What is left of a connection when its answer is not read to the end."""

import asyncio
import gc
from contextlib import aclosing, suppress
from datetime import timedelta
from pathlib import Path

import pytest

from api.kinds import CONFIG_MAP
from hub import Hub


@pytest.mark.parametrize("milliseconds", range(0, 20, 2))
async def test_a_program_that_ends_in_the_middle_of_a_watch_leaves_no_socket_open(
    hub_kubeconfig: Path, milliseconds: int
) -> None:
    """Left before it began, while it opens or while it waits; pytest fails on an open socket."""
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
