"""The term of a leader: the time during which it may write."""

import asyncio
import time
from collections.abc import Callable
from math import inf

from hub.errors import Fenced


def now() -> float:
    """Return the seconds of a monotonic clock that keeps running while the machine is suspended."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class Term:
    """A term that ends by itself unless it keeps being extended.

    Its end takes effect in two ways: a timer stops the work, and `check`, the fence, refuses every
    write, even if the timer is late because the process or its machine was suspended.
    """

    def __init__(self, *, until: float, stop: Callable[[], object]) -> None:
        """`stop` is called once, if the term is over before the leader has ended it."""
        self._until = until
        self._stop = stop
        self._timer: asyncio.TimerHandle | None = None
        self._is_ended = False
        self.is_lost = False
        """Whether the term was lost, not ended by the leader."""
        self._set_timer()

    @property
    def is_over(self) -> bool:
        """Whether the term is over, so that another process may lead."""
        return now() >= self._until

    def check(self) -> None:
        """Raise Fenced if the term is over."""
        if self.is_over:
            raise Fenced("this process is no longer the leader: nothing was written")

    def extend(self, until: float) -> None:
        """Extend the term unless it is over: a late leader has to be elected again."""
        if not self.is_over:
            self._until = until

    def lose(self) -> None:
        """End the term now, because another process leads or soon may; can be called repeatedly."""
        if self._is_ended:
            return
        self.end()
        self.is_lost = True
        self._stop()

    def end(self) -> None:
        """End the term now; nothing is written from here on."""
        self._is_ended, self._until = True, -inf
        if self._timer is not None:
            self._timer.cancel()

    def _set_timer(self) -> None:
        left = max(self._until - now(), 0.0)
        self._timer = asyncio.get_running_loop().call_later(left, self._on_timer)

    def _on_timer(self) -> None:
        if self.is_over:
            self.lose()
        else:
            self._set_timer()
