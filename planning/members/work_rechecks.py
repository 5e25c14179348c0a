"""When an agent processes a Work again without any event: at growing intervals.

contract: placement 8 (re-processing is periodic with growing delay)
"""

from datetime import timedelta
from typing import Final

_UNSETTLED_FIRST: Final = timedelta(seconds=2)
_UNSETTLED_MOST: Final = timedelta(seconds=30)
_UNSETTLED_GROWTH: Final = 1.2
_SETTLED_GROWTH: Final = 1.5
_SETTLED_MOST: Final = timedelta(minutes=15)
"""A change that no watch reported is repaired after this time at the latest."""

_REPAIR_FIRST: Final = timedelta(seconds=1)
_REPAIR_MOST: Final = timedelta(minutes=5)
_REPAIR_GROWTH: Final = 2.0

_ENOUGH: Final = 20
"""Attempts after which every interval has reached its limit, while the power is still small."""


def pause(attempt: int, *, settled: bool) -> timedelta:
    """Return how long to wait after the given consecutive attempt (1 or more) of the same kind.

    Args:
        attempt: how often in a row the Work was processed with nothing new to do.
        settled: everything is applied and available; otherwise something is still missing.
    """
    if settled:
        return _grown(_UNSETTLED_MOST, _SETTLED_GROWTH, attempt, most=_SETTLED_MOST)
    return _grown(_UNSETTLED_FIRST, _UNSETTLED_GROWTH, attempt, most=_UNSETTLED_MOST)


def repair_pause(repairs: int) -> timedelta:
    """Return how long to leave drift alone after so many repairs in a row (0: none yet).

    The time grows, because a writer that undoes what the agent applies will do so again.
    """
    if repairs == 0:
        return timedelta(0)
    return _grown(_REPAIR_FIRST, _REPAIR_GROWTH, repairs, most=_REPAIR_MOST)


def _grown(first: timedelta, growth: float, attempt: int, *, most: timedelta) -> timedelta:
    return min(first * growth ** min(attempt - 1, _ENOUGH), most)
