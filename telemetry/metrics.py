"""The registry of the process's metrics, and its exposition in Prometheus format.

The registry is created here and passed down to everything that registers metrics.
"""

from math import inf

import prometheus_client
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder


def process_registry() -> CollectorRegistry:
    """Return a new registry with memory, CPU time and open files of this process."""
    # Each histogram would add a series `…_created`, which KubeFleet's histograms do not have.
    prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    return registry


def exposition(registry: CollectorRegistry, *, accept: str = "") -> tuple[bytes, str]:
    """Return all metrics in a format that the client accepts, and its content type."""
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


def bucket(bound: float) -> str:
    """Return the upper bound of a histogram bucket as a label value."""
    return "+Inf" if bound == inf else str(bound)
