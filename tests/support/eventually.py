"""Waiting for the world to become as a test expects it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from time import monotonic
from typing import TypeVar

SeenT = TypeVar("SeenT")
LONGEST_PAUSE = 0.2


def pauses() -> Iterator[float]:
    """Seconds between one look and the next: few at first, but each look costs work elsewhere."""
    pause = 0.02
    while True:
        yield pause
        pause = min(1.5 * pause, LONGEST_PAUSE)


async def eventually(
    look: Callable[[], Awaitable[SeenT]],
    expect: Callable[[SeenT], object],
    *,
    within: float = 30,
) -> SeenT:
    """Look until what is seen is as expected, and return it; fail with what was seen last."""
    deadline = monotonic() + within
    pause = pauses()
    while True:
        seen = await look()
        if expect(seen):
            return seen
        if monotonic() > deadline:
            raise AssertionError(f"not so within {within} s; last seen: {seen!r}")
        await asyncio.sleep(next(pause))
