"""Metrics of an API server's client: requests, answers, watches.

The client keeps the counts; they are read when the metrics are collected.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf
from typing import Final, Protocol

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.registry import Collector

from telemetry.metrics import bucket

Requests = Mapping[tuple[str, str], int]
"""Number of requests sent, by verb and resource."""


class DurationSeries(Protocol):
    """Durations of requests of one kind."""

    @property
    def counts(self) -> Sequence[int]:
        """Number of requests in each bucket, not cumulative; the last one has no upper bound."""

    @property
    def seconds(self) -> float:
        """Total duration of all requests, in seconds."""


class WatchStates(Protocol):
    """The watches of a client, by resource."""

    @property
    def restarts(self) -> Mapping[str, int]:
        """Number of times that a watch was restarted."""

    def running(self) -> Mapping[str, int]:
        """Return the number of watches."""

    def silence(self) -> Mapping[str, float]:
        """Return the seconds since the watch that was silent for longest received something."""


class Client(Protocol):
    """A client of one API server."""

    @property
    def requests(self) -> Requests:
        """The requests that it has sent."""

    @property
    def answers(self) -> "RequestDurations":
        """The answers that it has received."""

    @property
    def watches(self) -> WatchStates:
        """Its watches."""


class RequestDurations(Protocol):
    """Durations of requests, by verb and class of the status code."""

    @property
    def durations(self) -> Mapping[tuple[str, str], DurationSeries]:
        """The durations by verb and class of the status code."""


@dataclass(frozen=True, slots=True)
class Server:
    """Which API server the metrics are about, and from which kind of process."""

    prefix: str
    """Prefix of the metrics' names; it keeps agents apart from workers scraped next to them."""
    name: str
    """What the metrics' help calls the cluster: hub or member."""


HUB: Final = Server("fleetgate_hub", "hub")
HUB_OF_AGENT: Final = Server("fleetgate_agent_hub", "hub")
MEMBER_OF_AGENT: Final = Server("fleetgate_agent_member", "member")


def register_client(
    registry: CollectorRegistry, client: Client, *, bounds: Sequence[float], server: Server = HUB
) -> None:
    """Register all metrics of a client of an API server."""
    register_hub_requests(registry, lambda: client.requests, server=server)
    register_hub_answers(registry, client.answers.durations, bounds=bounds, server=server)
    register_hub_watches(registry, client.watches, server=server)


def register_hub_requests(
    registry: CollectorRegistry, requests: Callable[[], Requests], *, server: Server = HUB
) -> None:
    """Register the number of requests that the process has sent to an API server."""
    registry.register(_HubRequests(requests, server))


def register_hub_answers(
    registry: CollectorRegistry,
    durations: Mapping[tuple[str, str], DurationSeries],
    *,
    bounds: Sequence[float],
    server: Server = HUB,
) -> None:
    """Register how long an API server took to answer, by verb and class of the status code."""
    registry.register(_HubAnswers(durations, bounds, server))


def register_hub_watches(
    registry: CollectorRegistry, watches: WatchStates, *, server: Server = HUB
) -> None:
    """Register whether the watches of the process on an API server still receive changes."""
    registry.register(_HubWatches(watches, server))


class _HubRequests(Collector):
    """Collects counts that the client keeps."""

    def __init__(self, requests: Callable[[], Requests], server: Server) -> None:
        self._requests = requests
        self._server = server

    def collect(self) -> Iterable[Metric]:
        """Return one series for each verb and resource."""
        family = CounterMetricFamily(
            f"{self._server.prefix}_requests",
            f"Requests sent to the {self._server.name}'s API server, failed ones included",
            labels=("verb", "resource"),
        )
        for (verb, resource), count in sorted(self._requests().items()):
            family.add_metric((verb, resource), count)
        yield family


class _HubAnswers(Collector):
    """Collects histograms that the client keeps."""

    def __init__(
        self,
        durations: Mapping[tuple[str, str], DurationSeries],
        bounds: Sequence[float],
        server: Server,
    ) -> None:
        self._durations = durations
        self._server = server
        self._bounds = [bucket(bound) for bound in (*bounds, inf)]

    def collect(self) -> Iterable[Metric]:
        """Return one histogram for each verb and class of status codes."""
        family = HistogramMetricFamily(
            f"{self._server.prefix}_request_duration_seconds",
            f"Time from a request to the {self._server.name}'s API server to the start of its "
            "answer",
            labels=("verb", "code"),
        )
        for (verb, code), each in sorted(self._durations.items()):
            buckets = list(zip(self._bounds, accumulate(each.counts), strict=True))
            family.add_metric((verb, code), buckets, sum_value=each.seconds)
        yield family


class _HubWatches(Collector):
    """Collects signs of life that the client keeps."""

    def __init__(self, watches: WatchStates, server: Server) -> None:
        self._watches = watches
        self._server = server

    def collect(self) -> Iterable[Metric]:
        """Return three series for each watched resource."""
        prefix, name = self._server.prefix, self._server.name
        running = GaugeMetricFamily(
            f"{prefix}_watches", f"Running watches on the {name}", labels=("resource",)
        )
        silence = GaugeMetricFamily(
            f"{prefix}_watch_silence_seconds",
            f"Time since the quietest watch on the {name} received something; "
            "a healthy one receives a change or a bookmark every 40 seconds",
            labels=("resource",),
        )
        restarts = CounterMetricFamily(
            f"{prefix}_watch_restarts",
            "Watches that had to be restarted because they failed or fell behind",
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
