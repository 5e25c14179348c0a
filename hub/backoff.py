"""How long to wait before the next try."""

import random
from datetime import timedelta


def delay(failures: int, *, first: timedelta, most: timedelta) -> timedelta:
    """Pause after a number of failures in a row (1 or more): doubles each time, up to `most`."""
    # 2**30 of even a microsecond is beyond any sensible limit, and a float still holds it.
    return min(first * (1 << min(failures - 1, 30)), most)


def jittered(pause: timedelta) -> timedelta:
    """Between half of a pause and all of it, so that many clients do not come back as one."""
    return pause * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards no secret
