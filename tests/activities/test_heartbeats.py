"""A long activity sends heartbeats."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from temporalio.testing import ActivityEnvironment

from activities.heartbeats import heartbeating
from tests.support.eventually import patience


def environment(*, timeout: timedelta | None) -> ActivityEnvironment:
    made = ActivityEnvironment()
    made.info = replace(made.info, heartbeat_timeout=timeout)
    return made


async def test_heartbeats_are_sent_while_work_continues() -> None:
    beaten = asyncio.Event()
    somewhere = environment(timeout=timedelta(seconds=3))
    somewhere.on_heartbeat = lambda *_: beaten.set()

    async def work() -> None:
        async with heartbeating():
            await asyncio.wait_for(beaten.wait(), timeout=patience())

    await somewhere.run(work)


@pytest.mark.parametrize(("limit", "beats"), [(timedelta(seconds=3), 1), (None, 0)])
async def test_heartbeats_end_with_the_work(limit: timedelta | None, beats: int) -> None:
    async def work() -> list[asyncio.Task[Any]]:
        before = asyncio.all_tasks()
        async with heartbeating():
            begun = list(asyncio.all_tasks() - before)
        await asyncio.gather(*begun, return_exceptions=True)
        return begun

    begun = await environment(timeout=limit).run(work)
    assert [each.cancelled() for each in begun] == [True] * beats
