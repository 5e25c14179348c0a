"""Virtual time: nothing happens between two events, so the clock jumps from one to the next."""

import heapq
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

BEGIN: Final = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Timeline:
    """A clock and what is going to happen, in the order of time and then of being planned."""

    def __init__(self) -> None:
        self.now = BEGIN
        self._order = count()
        self._ahead: list[tuple[datetime, int, Callable[[], None]]] = []

    @property
    def passed(self) -> timedelta:
        """Time since the beginning."""
        return self.now - BEGIN

    @property
    def next_at(self) -> datetime | None:
        """When the next thing happens; None when nothing is going to."""
        return self._ahead[0][0] if self._ahead else None

    def after(self, delay: timedelta, deed: Callable[[], None]) -> None:
        """Have something happen later."""
        assert delay >= timedelta(0), "virtual time does not go back"
        heapq.heappush(self._ahead, (self.now + delay, next(self._order), deed))

    def step(self) -> None:
        """Jump to the next thing that happens, and let it happen."""
        self.now, _, deed = heapq.heappop(self._ahead)
        deed()

    def wait(self, delay: timedelta) -> None:
        """Let everything happen that happens within some time."""
        until = self.now + delay
        while self.next_at is not None and self.next_at <= until:
            self.step()
        self.now = until
