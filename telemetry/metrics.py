"""What the process measures of itself, and how it is written for Prometheus.

The registry is made here and handed down: whoever measures something registers it there.
"""

from collections.abc import Callable, Iterable, Mapping

import prometheus_client
from prometheus_client import CollectorRegistry, Metric, ProcessCollector
from prometheus_client.core import CounterMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

Requests = Mapping[tuple[str, str], int]
"""How many requests were sent, by verb and resource."""


def process_registry() -> CollectorRegistry:
    """Make a registry that knows memory, CPU time and open files of this process."""
    # A histogram would bring a series `…_created` of its own, which KubeFleet's have not.
    prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    return registry


def register_hub_requests(registry: CollectorRegistry, requests: Callable[[], Requests]) -> None:
    """Show how many requests the process has sent to the hub; read whenever somebody asks."""
    registry.register(_HubRequests(requests))


def exposition(registry: CollectorRegistry, *, accept: str = "") -> tuple[bytes, str]:
    """Everything measured, in the format that a client accepts, and the format's name."""
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


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
