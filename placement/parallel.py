"""Several writes side by side."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

T = TypeVar("T")

WRITES_AT_ONCE = 32
"""About as many as an API server answers without letting others wait."""


async def all_of(writes: Iterable[Awaitable[T]]) -> list[T]:
    """Await all, some at a time; then raise the first error, if there was one.

    No write is cut off because another one failed. When this is cancelled, those that have not
    begun never do.
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
                each.close()  # Nothing to one that is over.
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
