"""An activity that takes long says that it is alive."""

import asyncio
from typing import Any

from temporalio.testing import ActivityEnvironment

from activities.heartbeats import heartbeating


async def test_it_heartbeats_until_it_is_over() -> None:
    beaten = asyncio.Event()
    environment = ActivityEnvironment()
    environment.on_heartbeat = lambda *_: beaten.set()

    async def work() -> None:
        async with heartbeating():
            await asyncio.wait_for(beaten.wait(), timeout=30)

    await environment.run(work)


async def test_it_ends_with_what_it_is_around() -> None:
    async def work() -> list[asyncio.Task[Any]]:
        before = asyncio.all_tasks()
        async with heartbeating():
            begun = list(asyncio.all_tasks() - before)
        await asyncio.gather(*begun, return_exceptions=True)
        return begun

    begun = await ActivityEnvironment().run(work)
    assert len(begun) == 1
    assert begun[0].cancelled()
