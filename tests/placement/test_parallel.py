"""Parallel writes."""

import asyncio
from contextlib import suppress

from placement.parallel import WRITES_AT_ONCE, all_of


async def test_writes_that_have_not_started_when_all_are_cancelled_never_start() -> None:
    begun: list[int] = []
    full = asyncio.Event()

    async def write(number: int) -> None:
        begun.append(number)
        if len(begun) == WRITES_AT_ONCE:
            full.set()
        await asyncio.Event().wait()

    writing = asyncio.create_task(all_of(write(each) for each in range(WRITES_AT_ONCE + 1)))
    await full.wait()
    writing.cancel()
    with suppress(asyncio.CancelledError):
        await writing

    assert begun == list(range(WRITES_AT_ONCE))
