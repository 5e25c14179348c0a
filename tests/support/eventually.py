"""Waiting until something is as a test expects: the one way to poll, and its time limit."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from inspect import isawaitable
from typing import Any, TypeVar, overload

SeenT = TypeVar("SeenT")

PATIENCE = 60.0
"""Seconds that a test waits on a machine that is not overloaded; most waits are much shorter."""
FIRST_PAUSE = 0.04
LONGEST_PAUSE = 0.3
"""Seconds between two checks: short at first, and longer later because each check costs work."""


def patience(seconds: float = PATIENCE) -> float:
    """Return seconds, up to twice as many on an overloaded machine.

    Not more than that, so that a test fails here, with what it saw last, rather than at its own
    time limit.
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
    """Call `look` until its result is as expected, and return it; fail with the last result.

    By default any true result is expected; `within` is in seconds on a machine that is not
    overloaded. An assertion in `look` fails at once.
    """
    seen = None
    for pause in _pauses(within):
        found = look()
        seen = await found if isawaitable(found) else found
        if expect(seen):
            return seen
        await asyncio.sleep(pause)
    raise AssertionError(f"not as expected within {within:g} s; last seen: {seen!r}")


def wait(
    look: Callable[[], SeenT],
    expect: Callable[[SeenT], object] = bool,
    *,
    within: float = PATIENCE,
) -> SeenT:
    """Do the same as `eventually` in a synchronous test."""
    seen = None
    for pause in _pauses(within):
        seen = look()
        if expect(seen):
            return seen
        time.sleep(pause)
    raise AssertionError(f"not as expected within {within:g} s; last seen: {seen!r}")


def _pauses(within: float) -> Iterator[float]:
    """Yield the seconds between checks; the last check comes after the time is up."""
    deadline = time.monotonic() + patience(within)
    pause = FIRST_PAUSE
    over = False
    while not over:
        over = time.monotonic() > deadline
        yield pause
        pause = min(1.5 * pause, LONGEST_PAUSE)
