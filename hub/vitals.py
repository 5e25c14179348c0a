"""What a client sees of its API server: how long it takes to answer, and which watches live.

Plain counts, for whoever shows them.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
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
    """Signs of life of one watch."""

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
