"""The time during which a process may act as the one that leads."""

import asyncio
import time
from collections.abc import Callable
from math import inf

from hub.errors import Fenced


def now() -> float:
    """Seconds by a clock that never jumps, and that goes on while the machine is suspended."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class Term:
    """Ends by itself unless it is extended again and again.

    Its end is noticed in two ways. A timer stops the work; and `check`, the fence, refuses each
    write, also where the timer is late because the process or its machine stood still.
    """

    def __init__(self, *, until: float, stop: Callable[[], object]) -> None:
        """`stop` is called once, when the term is over before whoever leads ended it."""
        self._until = until
        self._stop = stop
        self._timer: asyncio.TimerHandle | None = None
        self._is_ended = False
        self.is_lost = False
        """Whether the term ended against the will of whoever leads."""
        self._set_timer()

    @property
    def is_over(self) -> bool:
        """Whether another process may lead by now."""
        return now() >= self._until

    def check(self) -> None:
        """Raise Fenced when the term is over."""
        if self.is_over:
            raise Fenced("this process does not lead any more: nothing is written")

    def extend(self, until: float) -> None:
        """Go on, unless it is over already: who was late has to begin anew."""
        if not self.is_over:
            self._until = until

    def lose(self) -> None:
        """End it now, because another process leads, or may do so soon; once is enough."""
        if self._is_ended:
            return
        self.end()
        self.is_lost = True
        self._stop()

    def end(self) -> None:
        """End it now: from here on nothing is written."""
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
