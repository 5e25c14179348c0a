"""Statistics of a client: response times, running watches, and work that hangs.

Plain numbers, which other packages turn into metrics.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from time import monotonic
from typing import Final

BOUNDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Seconds; from a read served from the server's memory up to the time limit of a request."""
UNANSWERED: Final = "none"
"""Code of a request without an answer."""


@dataclass(slots=True)
class Durations:
    """Response times of one type of requests."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    """Number of requests per bucket: up to each bound, and above the one before it."""
    seconds: float = 0.0
    """Sum of all response times."""


class Answers:
    """Times from a request to the start of its answer, by verb and class of the status code."""

    def __init__(self) -> None:
        self.durations: defaultdict[tuple[str, str], Durations] = defaultdict(Durations)

    @contextmanager
    def timed(self, verb: str) -> Iterator["Timing"]:
        """Time one request; the caller sets its status on the `Timing`.

        A cancelled request does not count, because it says nothing about the server.
        """
        timing, started = Timing(), monotonic()
        try:
            yield timing
        except Exception:
            self._note(verb, timing, monotonic() - started)
            raise
        self._note(verb, timing, monotonic() - started)

    def _note(self, verb: str, timing: "Timing", taken: float) -> None:
        durations = self.durations[verb, timing.code]
        durations.counts[bisect_left(BOUNDS, taken)] += 1
        durations.seconds += taken


@dataclass(slots=True)
class Timing:
    """One request in progress."""

    code: str = UNANSWERED

    def answered(self, status: int) -> None:
        """Record the class of the status code, such as `2xx`."""
        self.code = f"{status // 100}xx"


@dataclass(slots=True)
class Pulse:
    """Signs of life of one watch, or of one piece of work."""

    heard_at: float = field(default_factory=monotonic)

    def beat(self) -> None:
        """Record a sign of life."""
        self.heard_at = monotonic()


class Watches:
    """The watches on an API server, by the plural of their kind."""

    def __init__(self) -> None:
        self._pulses: dict[str, list[Pulse]] = {}
        self.restarts: Counter[str] = Counter()
        """Number of restarts because a watch failed or fell behind."""

    @contextmanager
    def followed(self, plural: str) -> Iterator[Pulse]:
        """Count a watch for the duration of a `with`."""
        pulse = Pulse()
        # Exported from the start: a counter that first appears as 1 shows no increase.
        self.restarts[plural] += 0
        pulses = self._pulses.setdefault(plural, [])
        pulses.append(pulse)
        try:
            yield pulse
        finally:
            # By identity: two pulses with the same time are equal.
            pulses[:] = [each for each in pulses if each is not pulse]

    def silence(self) -> Mapping[str, float]:
        """Return the seconds of silence of the longest silent watch, by kind."""
        now = monotonic()
        return {
            plural: now - min(each.heard_at for each in pulses)
            for plural, pulses in self._pulses.items()
            if pulses
        }

    def running(self) -> Mapping[str, int]:
        """Return the number of running watches, by kind."""
        return {plural: len(pulses) for plural, pulses in self._pulses.items()}


_EFFORT: ContextVar[Pulse | None] = ContextVar("_EFFORT", default=None)
"""The piece of work that a task belongs to; tasks that it starts belong to the same one."""


class Efforts:
    """Pieces of work in progress, each with the time when its last request ended.

    Every request ends within a time limit, answered or not. So a piece of work without any for a
    long time waits for something that will not happen.
    """

    def __init__(self) -> None:
        self._under_way: list[tuple[str, Pulse]] = []

    @contextmanager
    def under_way(self, name: str) -> Iterator[None]:
        """Count a piece of work for the duration of a `with`."""
        effort = name, Pulse()
        self._under_way.append(effort)
        before = _EFFORT.set(effort[1])
        try:
            yield
        finally:
            _EFFORT.reset(before)
            # By identity: two that began at the same time are equal.
            self._under_way[:] = [each for each in self._under_way if each is not effort]

    def hung(self, after: timedelta) -> list[str]:
        """Return the sorted names of work in which nothing has happened for `after`."""
        latest = monotonic() - after.total_seconds()
        return sorted(name for name, pulse in self._under_way if pulse.heard_at <= latest)


def go_on() -> None:
    """Record that a request of this task's piece of work has ended."""
    if (effort := _EFFORT.get()) is not None:
        effort.beat()
