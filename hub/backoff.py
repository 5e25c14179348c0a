"""Delays between retries."""

import random
from datetime import timedelta


def delay(failures: int, *, first: timedelta, most: timedelta) -> timedelta:
    """Return the pause after `failures` failures in a row (1 or more), doubling up to `most`."""
    # 2**30 times even a microsecond is beyond any sensible limit, and still fits into a float.
    return min(first * (1 << min(failures - 1, 30)), most)


def jittered(pause: timedelta) -> timedelta:
    """Return a random part, at least half, of a pause, so that clients do not retry together."""
    return pause * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards no secret
