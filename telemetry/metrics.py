"""What the process measures of itself, and how it is written for Prometheus.

The registry is made here and handed down: whoever measures something registers it there.
"""

from math import inf

import prometheus_client
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder


def process_registry() -> CollectorRegistry:
    """Make a registry that knows memory, CPU time and open files of this process."""
    # A histogram would bring a series `…_created` of its own, which KubeFleet's have not.
    prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    return registry


def exposition(registry: CollectorRegistry, *, accept: str = "") -> tuple[bytes, str]:
    """Everything measured, in the format that a client accepts, and the format's name."""
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


def bucket(bound: float) -> str:
    """Upper bound of a histogram's bucket as a label says it."""
    return "+Inf" if bound == inf else str(bound)
