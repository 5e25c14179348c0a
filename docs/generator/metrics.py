"""The page of metrics, generated from the registries that the packages fill."""

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector

from agent import AgentMetrics
from bridge.metrics import RunMetrics
from docs.generator.markdown import Pages, literal, page, table
from hub.vitals import Answers, Watches
from placement.metrics import MemberSilence, PlacementMetrics
from telemetry import (
    HUB_OF_AGENT,
    MEMBER_OF_AGENT,
    LeadershipMetrics,
    ProcessHealth,
    register_client,
    register_readiness,
)


class _Listing(CollectorRegistry):
    """A registry that remembers what was registered."""

    def __init__(self) -> None:
        super().__init__()
        self.collectors: list[Collector] = []

    def register(self, collector: Collector) -> None:
        """Register a collector and remember the order."""
        super().register(collector)
        self.collectors.append(collector)


def pages() -> Pages:
    """Return the page."""
    registry = _Listing()
    RunMetrics(registry)
    PlacementMetrics(registry)
    registry.register(MemberSilence(list))
    register_readiness(registry, ProcessHealth())
    LeadershipMetrics(registry)
    register_client(registry, _Client(), bounds=())
    text = page(
        "Metrics",
        "A worker serves these on `/metrics` of [its address](settings.md), for Prometheus. "
        "Metrics whose names begin with `fleet_` have the same names, labels and meaning as in "
        "KubeFleet, so that dashboards for KubeFleet continue to work.",
        _table(registry),
        "`temporal_…` are the metrics of Temporal's SDK, under its names. `process_…` are the "
        "usual metrics of a process: memory, CPU time, open files. On the same address, "
        "`/healthz` answers while the process is alive, and `/readyz` answers 200 once the worker "
        "polls for work and its watches are up to date.",
        "## Metrics of an agent",
        "`fleetgate agent` serves these on `--metrics-address`, along with `process_…`. A worker "
        "that runs agents also serves the metrics with the label `member`. `/healthz` fails when "
        "a heartbeat or a Work has hung for ten minutes. `/readyz` answers 200 while the agent "
        "can watch the hub and its member; otherwise it names what the agent cannot watch.",
        _table(_of_agent()),
    )
    return {"metrics.md": text}


def _of_agent() -> _Listing:
    registry = _Listing()
    AgentMetrics(registry)
    register_readiness(registry, ProcessHealth(), name="fleetgate_agent_ready")
    for server in (HUB_OF_AGENT, MEMBER_OF_AGENT):
        register_client(registry, _Client(), bounds=(), server=server)
    return registry


class _Client:
    """A client that has not sent a request yet."""

    def __init__(self) -> None:
        self.requests: dict[tuple[str, str], int] = {}
        self.answers = Answers()
        self.watches = Watches()


def _table(registry: _Listing) -> str:
    rows = [
        _row(collector, family)
        for collector in registry.collectors
        for family in collector.collect()
    ]
    return table(("metric", "type", "labels", "what it measures"), rows)


def _row(collector: Collector, family: Metric) -> tuple[str, str, str, str]:
    name = f"{family.name}_total" if family.type == "counter" else family.name
    labels = ", ".join(literal(label) for label in _labels(collector, family))
    return literal(name), family.type, labels, family.documentation


def _labels(collector: Collector, family: Metric) -> tuple[str, ...]:
    # There is no public access to the labels of a metric without samples.
    return tuple(vars(family).get("_labelnames") or vars(collector).get("_labelnames", ()))
