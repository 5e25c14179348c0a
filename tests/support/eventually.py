"""Waiting for the world to become as a test expects it."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import TypeVar

SeenT = TypeVar("SeenT")


async def eventually(
    look: Callable[[], Awaitable[SeenT]],
    expect: Callable[[SeenT], object],
    *,
    within: float = 30,
) -> SeenT:
    """Look until what is seen is as expected, and return it; fail with what was seen last."""
    deadline = monotonic() + within
    while True:
        seen = await look()
        if expect(seen):
            return seen
        if monotonic() > deadline:
            raise AssertionError(f"not so within {within} s; last seen: {seen!r}")
        await asyncio.sleep(0.05)
