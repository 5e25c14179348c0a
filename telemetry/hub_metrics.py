"""What a client of the hub sees of it, in numbers: requests, answers, watches.

The counts are kept by whoever observes them, and read whenever somebody asks.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from math import inf
from typing import Protocol

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.registry import Collector

from telemetry.metrics import bucket

Requests = Mapping[tuple[str, str], int]
"""How many requests were sent, by verb and resource."""


class Durations(Protocol):
    """How long requests of one sort took."""

    @property
    def counts(self) -> Sequence[int]:
        """How many were within each bound and not within the one before it; more at the end."""

    @property
    def seconds(self) -> float:
        """All of them together."""


class Watches(Protocol):
    """What follows the hub, by the resource that it follows."""

    @property
    def restarts(self) -> Mapping[str, int]:
        """How often one was begun anew."""

    def running(self) -> Mapping[str, int]:
        """How many there are."""

    def silence(self) -> Mapping[str, float]:
        """Seconds since the one that was silent for longest was heard of."""


def register_hub_requests(registry: CollectorRegistry, requests: Callable[[], Requests]) -> None:
    """Show how many requests the process has sent to the hub."""
    registry.register(_HubRequests(requests))


def register_hub_answers(
    registry: CollectorRegistry,
    durations: Mapping[tuple[str, str], Durations],
    *,
    bounds: Sequence[float],
) -> None:
    """Show how long the hub took to answer, by verb and class of the answer's code."""
    registry.register(_HubAnswers(durations, bounds))


def register_hub_watches(registry: CollectorRegistry, watches: Watches) -> None:
    """Show whether the process still hears of what it follows on the hub."""
    registry.register(_HubWatches(watches))


class _HubRequests(Collector):
    """Counts that are kept elsewhere."""

    def __init__(self, requests: Callable[[], Requests]) -> None:
        self._requests = requests

    def collect(self) -> Iterable[Metric]:
        """One series for each verb and resource."""
        family = CounterMetricFamily(
            "fleetgate_hub_requests",
            "Requests sent to the hub's API server, failed ones included",
            labels=("verb", "resource"),
        )
        for (verb, resource), count in sorted(self._requests().items()):
            family.add_metric((verb, resource), count)
        yield family


class _HubAnswers(Collector):
    """Histograms that are kept elsewhere."""

    def __init__(
        self, durations: Mapping[tuple[str, str], Durations], bounds: Sequence[float]
    ) -> None:
        self._durations = durations
        self._bounds = [bucket(bound) for bound in (*bounds, inf)]

    def collect(self) -> Iterable[Metric]:
        """One histogram for each verb and class of codes."""
        family = HistogramMetricFamily(
            "fleetgate_hub_request_duration_seconds",
            "Time from a request to the hub's API server to the beginning of its answer",
            labels=("verb", "code"),
        )
        for (verb, code), each in sorted(self._durations.items()):
            buckets = list(zip(self._bounds, accumulate(each.counts), strict=True))
            family.add_metric((verb, code), buckets, sum_value=each.seconds)
        yield family


class _HubWatches(Collector):
    """Signs of life that are kept elsewhere."""

    def __init__(self, watches: Watches) -> None:
        self._watches = watches

    def collect(self) -> Iterable[Metric]:
        """Three series for each resource that is followed."""
        running = GaugeMetricFamily(
            "fleetgate_hub_watches", "Watches on the hub that run", labels=("resource",)
        )
        silence = GaugeMetricFamily(
            "fleetgate_hub_watch_silence_seconds",
            "Time since the hub was heard of by the watch that was silent for longest; "
            "a healthy one hears a change or a bookmark every 40 seconds",
            labels=("resource",),
        )
        restarts = CounterMetricFamily(
            "fleetgate_hub_watch_restarts",
            "Watches that had to be begun anew because they failed or fell behind",
            labels=("resource",),
        )
        shown: tuple[tuple[GaugeMetricFamily | CounterMetricFamily, Mapping[str, float]], ...] = (
            (running, self._watches.running()),
            (silence, self._watches.silence()),
            (restarts, self._watches.restarts),
        )
        for family, values in shown:
            for resource, value in sorted(values.items()):
                family.add_metric((resource,), value)
            yield family
