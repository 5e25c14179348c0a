"""Parallel writes."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")

WRITES_AT_ONCE = 32
"""About as many as an API server handles without delaying other clients."""


async def all_of(writes: Iterable[Awaitable[T]]) -> list[T]:
    """Await all writes, a limited number at a time; then raise the first error, if any.

    No write is cancelled because another one failed. If this is cancelled, writes that have not
    started never start.
    """
    writes = list(writes)
    slots = asyncio.Semaphore(WRITES_AT_ONCE)

    async def one(write: Awaitable[T]) -> T:
        async with slots:
            return await write

    try:
        results = await asyncio.gather(*map(one, writes), return_exceptions=True)
    finally:
        for each in writes:
            if asyncio.iscoroutine(each):
                each.close()  # No effect on finished ones.
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
