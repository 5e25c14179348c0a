"""A queue of keys to look at, with the guarantees of client-go's work queue, and two lines.

What has changed goes before what is only due to be looked at again: hundreds of objects may be due
at the same time, and a person waits for the change.
"""

import asyncio
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic
from typing import Final, Generic, TypeVar

from hub import backoff

K = TypeVar("K", bound=Hashable)

RETRY_FIRST = timedelta(milliseconds=5)
"""After the first failure of a key: most conflicts are over by then."""
RETRY_MOST = timedelta(seconds=30)
"""A person who mended something does not wait longer than this for the next try."""


IN_A_ROW: Final = 4
"""So many changes go before one that is due: there may be changes without end."""


@dataclass(slots=True)
class QueueStats:
    """Counts since the start, for metrics."""

    added: int = 0
    """Keys put in line; additions that met their key already there do not count."""
    taken: int = 0
    retried: int = 0
    waited: timedelta = timedelta(0)
    """All the time that keys spent in line."""
    longest_wait: timedelta = timedelta(0)


class WorkQueue(Generic[K]):
    """Each key is in line at most once and with one worker at most.

    A key added while a worker has it comes in line again when that worker is done, so that no
    change goes unseen and no two workers hold the same key.
    """

    def __init__(
        self, *, retry_first: timedelta = RETRY_FIRST, retry_most: timedelta = RETRY_MOST
    ) -> None:
        self._retry_first = retry_first
        self._retry_most = retry_most
        # Dicts as ordered sets: a change that meets its key in the line of those due moves it.
        self._changed: dict[K, None] = {}
        self._due: dict[K, None] = {}
        self._in_line = asyncio.Semaphore(0)
        self._in_a_row = 0
        self._wanted: dict[K, float] = {}
        """Since when each key is to be looked at that no worker has taken."""
        self._changed_meanwhile: set[K] = set()
        """Keys of which that is because of a change, while a worker has them."""
        self._processing: set[K] = set()
        self._timers: dict[K, asyncio.TimerHandle] = {}
        self._failures: dict[K, int] = {}
        self.stats = QueueStats()

    def __len__(self) -> int:
        """Keys in line."""
        return len(self._changed) + len(self._due)

    def add(self, key: K) -> None:
        """Have a key looked at soon, because it has changed."""
        self._wanted.setdefault(key, monotonic())
        if key in self._processing:
            self._changed_meanwhile.add(key)
        elif key in self._due:
            del self._due[key]
            self._changed[key] = None
        elif key not in self._changed:
            self._enqueue(key, self._changed)

    def add_after(self, key: K, delay: timedelta) -> None:
        """Have a key looked at after a while; of several such wishes the earliest counts.

        When it is due, changes of others go first.
        """
        loop = asyncio.get_running_loop()
        due = loop.time() + delay.total_seconds()
        waiting = self._timers.get(key)
        if waiting is not None and waiting.when() <= due:
            return
        if waiting is not None:
            waiting.cancel()
        self._timers[key] = loop.call_at(due, self._is_due, key)

    def retry(self, key: K, *, at_least: timedelta = timedelta(0)) -> timedelta:
        """Have a key looked at again after a failure, later each time; returns after how long."""
        self._failures[key] = self._failures.get(key, 0) + 1
        self.stats.retried += 1
        pause = backoff.delay(self._failures[key], first=self._retry_first, most=self._retry_most)
        self.add_after(key, max(pause, at_least))
        return max(pause, at_least)

    def forget(self, key: K) -> None:
        """A key went well: its next failure is a first one again."""
        self._failures.pop(key, None)

    async def get(self) -> K:
        """Take the next key; give it back with `done`."""
        await self._in_line.acquire()
        key = self._next()
        wait = timedelta(seconds=monotonic() - self._wanted.pop(key))
        self._processing.add(key)
        self.stats.taken += 1
        self.stats.waited += wait
        self.stats.longest_wait = max(self.stats.longest_wait, wait)
        return key

    def done(self, key: K) -> None:
        """A worker is done with a key; if it was added meanwhile, it comes in line now."""
        self._processing.discard(key)
        if key in self._wanted:
            changed = key in self._changed_meanwhile
            self._enqueue(key, self._changed if changed else self._due)
        self._changed_meanwhile.discard(key)

    def close(self) -> None:
        """Drop all timers."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _next(self) -> K:
        is_turn_of_due = self._in_a_row >= IN_A_ROW or not self._changed
        line = self._due if self._due and is_turn_of_due else self._changed
        self._in_a_row = self._in_a_row + 1 if line is self._changed else 0
        key = next(iter(line))
        del line[key]
        return key

    def _enqueue(self, key: K, line: dict[K, None]) -> None:
        line[key] = None
        self._in_line.release()
        self.stats.added += 1

    def _is_due(self, key: K) -> None:
        del self._timers[key]
        if key in self._wanted:
            return
        self._wanted[key] = monotonic()
        if key not in self._processing:
            self._enqueue(key, self._due)
