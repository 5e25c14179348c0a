"""A queue of keys to reconcile, with the guarantees of client-go's work queue, and two lines.

Changed keys go before keys that are only due to be reconciled again: hundreds of objects may be due
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
"""Pause after the first failure of a key; most conflicts are over by then."""
RETRY_MOST = timedelta(seconds=30)
"""Longest pause: after fixing a problem, a person waits at most this long for the next try."""


IN_A_ROW: Final = 4
"""Maximum number of changed keys before one that is due, as changes may never stop coming."""


@dataclass(slots=True)
class QueueStats:
    """Counters since the start, for metrics."""

    added: int = 0
    """Keys put in line; adding a key that is already in line does not count."""
    taken: int = 0
    retried: int = 0
    waited: timedelta = timedelta(0)
    """Total time that keys spent in line."""
    longest_wait: timedelta = timedelta(0)


class WorkQueue(Generic[K]):
    """A queue in which each key is in line at most once, and processed by at most one worker.

    A key that is added while a worker processes it is put in line again when that worker is done,
    so that no change is missed and no two workers process the same key.
    """

    def __init__(
        self, *, retry_first: timedelta = RETRY_FIRST, retry_most: timedelta = RETRY_MOST
    ) -> None:
        self._retry_first = retry_first
        self._retry_most = retry_most
        # Dicts as ordered sets: a changed key that is already due moves to the line of changes.
        self._changed: dict[K, None] = {}
        self._due: dict[K, None] = {}
        self._in_line = asyncio.Semaphore(0)
        self._in_a_row = 0
        self._wanted: dict[K, float] = {}
        """Since when each key waits that no worker has taken yet."""
        self._changed_meanwhile: set[K] = set()
        """Keys that changed while a worker processes them."""
        self._processing: set[K] = set()
        self._timers: dict[K, asyncio.TimerHandle] = {}
        self._failures: dict[K, int] = {}
        self.stats = QueueStats()

    def __len__(self) -> int:
        """Return the number of keys in line."""
        return len(self._changed) + len(self._due)

    def add(self, key: K) -> None:
        """Queue a key because it has changed."""
        self._wanted.setdefault(key, monotonic())
        if key in self._processing:
            self._changed_meanwhile.add(key)
        elif key in self._due:
            del self._due[key]
            self._changed[key] = None
        elif key not in self._changed:
            self._enqueue(key, self._changed)

    def add_after(self, key: K, delay: timedelta) -> None:
        """Queue a key after a delay; if it has several delays, the earliest wins.

        When it is due, changed keys go first.
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
        """Queue a key again after a failure, with a growing delay; return the delay."""
        self._failures[key] = self._failures.get(key, 0) + 1
        self.stats.retried += 1
        pause = backoff.delay(self._failures[key], first=self._retry_first, most=self._retry_most)
        self.add_after(key, max(pause, at_least))
        return max(pause, at_least)

    def forget(self, key: K) -> None:
        """Reset the failures of a key after a success."""
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
        """Mark a key as processed; if it was added in the meantime, put it in line now."""
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
