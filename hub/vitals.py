"""What a client sees of its API server: how quick it is, which watches live, which work hangs.

Plain counts, for whoever shows them.
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
"""Seconds; from a read of the server's memory to the time limit of a request."""
UNANSWERED: Final = "none"
"""Code of a request that got no answer."""


@dataclass(slots=True)
class Durations:
    """How long requests of one sort took."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    """How many took no longer than each bound, and longer than the one before it."""
    seconds: float = 0.0
    """All of them together."""


class Answers:
    """Time from a request to the beginning of its answer, by verb and class of the code."""

    def __init__(self) -> None:
        self.durations: defaultdict[tuple[str, str], Durations] = defaultdict(Durations)

    @contextmanager
    def timed(self, verb: str) -> Iterator["Timing"]:
        """Time one request; whoever sends it says how it was answered.

        One that is cancelled does not count: it says nothing of the server.
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
    """One request that is under way."""

    code: str = UNANSWERED

    def answered(self, status: int) -> None:
        """Note the class of the answer's code, such as `2xx`."""
        self.code = f"{status // 100}xx"


@dataclass(slots=True)
class Pulse:
    """Signs of life of one watch, or of one piece of work."""

    heard_at: float = field(default_factory=monotonic)

    def beat(self) -> None:
        """The API server has said something."""
        self.heard_at = monotonic()


class Watches:
    """The caches that follow an API server, by the plural of their kind."""

    def __init__(self) -> None:
        self._pulses: dict[str, list[Pulse]] = {}
        self.restarts: Counter[str] = Counter()
        """How often one had to be begun anew because it failed or fell behind."""

    @contextmanager
    def followed(self, plural: str) -> Iterator[Pulse]:
        """Count a watch for the time of a `with`."""
        pulse = Pulse()
        # Shown from the start: a counter that begins with its first restart shows no increase.
        self.restarts[plural] += 0
        pulses = self._pulses.setdefault(plural, [])
        pulses.append(pulse)
        try:
            yield pulse
        finally:
            # By identity: two that were heard of at the same moment are equal.
            pulses[:] = [each for each in pulses if each is not pulse]

    def silence(self) -> Mapping[str, float]:
        """Seconds since the watch that was silent for longest was heard of, by kind."""
        now = monotonic()
        return {
            plural: now - min(each.heard_at for each in pulses)
            for plural, pulses in self._pulses.items()
            if pulses
        }

    def running(self) -> Mapping[str, int]:
        """How many there are, by kind."""
        return {plural: len(pulses) for plural, pulses in self._pulses.items()}


_EFFORT: ContextVar[Pulse | None] = ContextVar("_EFFORT", default=None)
"""The piece of work that a task is about; tasks that it starts are about the same one."""


class Efforts:
    """Pieces of work under way, each with when an API server last let it go on.

    A request ends in time, whether it is answered or not. So a piece of work in which none has
    ended for long waits for something that will not happen.
    """

    def __init__(self) -> None:
        self._under_way: list[tuple[str, Pulse]] = []

    @contextmanager
    def under_way(self, name: str) -> Iterator[None]:
        """Count a piece of work for the time of a `with`."""
        effort = name, Pulse()
        self._under_way.append(effort)
        before = _EFFORT.set(effort[1])
        try:
            yield
        finally:
            _EFFORT.reset(before)
            # By identity: two that began at the same moment are equal.
            self._under_way[:] = [each for each in self._under_way if each is not effort]

    def hung(self, after: timedelta) -> list[str]:
        """Names of those in which nothing has happened for so long, sorted."""
        latest = monotonic() - after.total_seconds()
        return sorted(name for name, pulse in self._under_way if pulse.heard_at <= latest)


def go_on() -> None:
    """Note that a request of the piece of work that this task is about has ended."""
    if (effort := _EFFORT.get()) is not None:
        effort.beat()
