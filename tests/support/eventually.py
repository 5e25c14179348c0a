"""Waiting for the world to become as a test expects it: the one way to poll, and its patience."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from inspect import isawaitable
from typing import Any, TypeVar, overload

SeenT = TypeVar("SeenT")

PATIENCE = 60.0
"""Seconds that a test waits on a machine that keeps up; what happens at all happens much sooner."""
FIRST_PAUSE = 0.04
LONGEST_PAUSE = 0.3
"""Seconds between two looks: few at first, but each look costs work elsewhere."""


def patience(seconds: float = PATIENCE) -> float:
    """Return seconds, or up to twice as many where there is more to do than the machine can do.

    No more: what a test saw last says more than that it was ended for its length.
    """
    waiting, _, _ = os.getloadavg()
    return seconds * min(2.0, max(1.0, waiting / (os.cpu_count() or 1)))


@overload
async def eventually(
    look: Callable[[], Awaitable[SeenT | None]], *, within: float = PATIENCE
) -> SeenT: ...


@overload
async def eventually(
    look: Callable[[], Awaitable[SeenT]],
    expect: Callable[[SeenT], object],
    *,
    within: float = PATIENCE,
) -> SeenT: ...


@overload
async def eventually(look: Callable[[], bool], *, within: float = PATIENCE) -> bool: ...


async def eventually(
    look: Callable[[], Any], expect: Callable[[Any], object] = bool, *, within: float = PATIENCE
) -> Any:
    """Look until what is seen is as expected, and return it; fail with what was seen last.

    By default anything true is expected; `within` is in seconds on a machine that keeps up. An
    assertion in `look` fails at once.
    """
    seen = None
    for pause in _pauses(within):
        found = look()
        seen = await found if isawaitable(found) else found
        if expect(seen):
            return seen
        await asyncio.sleep(pause)
    raise AssertionError(f"not so within {within:g} s; last seen: {seen!r}")


def wait(
    look: Callable[[], SeenT],
    expect: Callable[[SeenT], object] = bool,
    *,
    within: float = PATIENCE,
) -> SeenT:
    """Do the same in a test that is not asynchronous."""
    seen = None
    for pause in _pauses(within):
        seen = look()
        if expect(seen):
            return seen
        time.sleep(pause)
    raise AssertionError(f"not so within {within:g} s; last seen: {seen!r}")


def _pauses(within: float) -> Iterator[float]:
    """Seconds between one look and the next; the last look comes after the time is over."""
    deadline = time.monotonic() + patience(within)
    pause = FIRST_PAUSE
    over = False
    while not over:
        over = time.monotonic() > deadline
        yield pause
        pause = min(1.5 * pause, LONGEST_PAUSE)
