"""What a client of an API server sees of it, in numbers: requests, answers, watches.

The counts are kept by whoever observes them, and read whenever somebody asks.
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


class Client(Protocol):
    """Whoever talks to one API server."""

    @property
    def requests(self) -> Requests:
        """What it has sent."""

    @property
    def answers(self) -> "Answers":
        """How it was answered."""

    @property
    def watches(self) -> Watches:
        """What it follows."""


class Answers(Protocol):
    """How long requests took, by verb and class of the answer's code."""

    @property
    def durations(self) -> Mapping[tuple[str, str], Durations]:
        """All of them."""


@dataclass(frozen=True, slots=True)
class Server:
    """Which API server it is, and of which process that is said."""

    prefix: str
    """Of the metrics' names: agents are scraped next to workers, and are not to be mistaken."""
    name: str


HUB: Final = Server("fleetgate_hub", "hub")
HUB_OF_AGENT: Final = Server("fleetgate_agent_hub", "hub")
MEMBER_OF_AGENT: Final = Server("fleetgate_agent_member", "member")


def register_client(
    registry: CollectorRegistry, client: Client, *, bounds: Sequence[float], server: Server = HUB
) -> None:
    """Show all that a client sees of its API server."""
    register_hub_requests(registry, lambda: client.requests, server=server)
    register_hub_answers(registry, client.answers.durations, bounds=bounds, server=server)
    register_hub_watches(registry, client.watches, server=server)


def register_hub_requests(
    registry: CollectorRegistry, requests: Callable[[], Requests], *, server: Server = HUB
) -> None:
    """Show how many requests the process has sent to an API server."""
    registry.register(_HubRequests(requests, server))


def register_hub_answers(
    registry: CollectorRegistry,
    durations: Mapping[tuple[str, str], Durations],
    *,
    bounds: Sequence[float],
    server: Server = HUB,
) -> None:
    """Show how long an API server took to answer, by verb and class of the answer's code."""
    registry.register(_HubAnswers(durations, bounds, server))


def register_hub_watches(
    registry: CollectorRegistry, watches: Watches, *, server: Server = HUB
) -> None:
    """Show whether the process still hears of what it follows on an API server."""
    registry.register(_HubWatches(watches, server))


class _HubRequests(Collector):
    """Counts that are kept elsewhere."""

    def __init__(self, requests: Callable[[], Requests], server: Server) -> None:
        self._requests = requests
        self._server = server

    def collect(self) -> Iterable[Metric]:
        """One series for each verb and resource."""
        family = CounterMetricFamily(
            f"{self._server.prefix}_requests",
            f"Requests sent to the {self._server.name}'s API server, failed ones included",
            labels=("verb", "resource"),
        )
        for (verb, resource), count in sorted(self._requests().items()):
            family.add_metric((verb, resource), count)
        yield family


class _HubAnswers(Collector):
    """Histograms that are kept elsewhere."""

    def __init__(
        self,
        durations: Mapping[tuple[str, str], Durations],
        bounds: Sequence[float],
        server: Server,
    ) -> None:
        self._durations = durations
        self._server = server
        self._bounds = [bucket(bound) for bound in (*bounds, inf)]

    def collect(self) -> Iterable[Metric]:
        """One histogram for each verb and class of codes."""
        family = HistogramMetricFamily(
            f"{self._server.prefix}_request_duration_seconds",
            f"Time from a request to the {self._server.name}'s API server to the beginning of its "
            "answer",
            labels=("verb", "code"),
        )
        for (verb, code), each in sorted(self._durations.items()):
            buckets = list(zip(self._bounds, accumulate(each.counts), strict=True))
            family.add_metric((verb, code), buckets, sum_value=each.seconds)
        yield family


class _HubWatches(Collector):
    """Signs of life that are kept elsewhere."""

    def __init__(self, watches: Watches, server: Server) -> None:
        self._watches = watches
        self._server = server

    def collect(self) -> Iterable[Metric]:
        """Three series for each resource that is followed."""
        prefix, name = self._server.prefix, self._server.name
        running = GaugeMetricFamily(
            f"{prefix}_watches", f"Watches on the {name} that run", labels=("resource",)
        )
        silence = GaugeMetricFamily(
            f"{prefix}_watch_silence_seconds",
            f"Time since the {name} was heard of by the watch that was silent for longest; "
            "a healthy one hears a change or a bookmark every 40 seconds",
            labels=("resource",),
        )
        restarts = CounterMetricFamily(
            f"{prefix}_watch_restarts",
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
