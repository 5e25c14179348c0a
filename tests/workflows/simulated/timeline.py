"""Virtual time, which jumps from one event to the next, as nothing happens in between."""

import heapq
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

BEGIN: Final = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Timeline:
    """A clock with the scheduled events, ordered by time and then by when they were scheduled."""

    def __init__(self) -> None:
        self.now = BEGIN
        self._order = count()
        self._ahead: list[tuple[datetime, int, Callable[[], None]]] = []

    @property
    def passed(self) -> timedelta:
        """Time since the start."""
        return self.now - BEGIN

    @property
    def next_at(self) -> datetime | None:
        """Time of the next event; None if there is none."""
        return self._ahead[0][0] if self._ahead else None

    def after(self, delay: timedelta, deed: Callable[[], None]) -> None:
        """Schedule an event."""
        assert delay >= timedelta(0), "virtual time does not go back"
        heapq.heappush(self._ahead, (self.now + delay, next(self._order), deed))

    def step(self) -> None:
        """Jump to the next event, and run it."""
        self.now, _, deed = heapq.heappop(self._ahead)
        deed()

    def wait(self, delay: timedelta) -> None:
        """Run everything that happens within some time."""
        until = self.now + delay
        while self.next_at is not None and self.next_at <= until:
            self.step()
        self.now = until
