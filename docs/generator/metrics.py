"""The page of metrics, from the registries that the rooms fill."""

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
    Health,
    LeadershipMetrics,
    register_client,
    register_readiness,
)


class _Listing(CollectorRegistry):
    """A registry that tells what was registered."""

    def __init__(self) -> None:
        super().__init__()
        self.collectors: list[Collector] = []

    def register(self, collector: Collector) -> None:
        """Keep the collector in order."""
        super().register(collector)
        self.collectors.append(collector)


def pages() -> Pages:
    """The one page."""
    registry = _Listing()
    RunMetrics(registry)
    PlacementMetrics(registry)
    registry.register(MemberSilence(list))
    register_readiness(registry, Health())
    LeadershipMetrics(registry)
    register_client(registry, _Client(), bounds=())
    text = page(
        "Metrics",
        "A worker serves these on `/metrics` of [its address](settings.md), for Prometheus. Those "
        "whose names begin with `fleet_` have the names, labels and meaning that KubeFleet gives "
        "them, so that dashboards made for it go on working.",
        _table(registry),
        "`temporal_…` are those of Temporal's SDK, under the names that it gives them. `process_…` "
        "are the usual ones of a process: memory, CPU time, open files. On the same "
        "address `/healthz` answers while the process lives, and `/readyz` answers 200 once the "
        "worker polls for work and its watches are in step.",
        "## Of an agent",
        "`fleetgate agent` serves these where `--metrics-address` says, next to `process_…`. A "
        "worker that runs agents serves those with the label `member` as well. `/healthz` fails "
        "when a heartbeat or a Work has hung for ten minutes. `/readyz` answers 200 while the "
        "agent follows the hub and its member; otherwise it names what the agent cannot follow.",
        _table(_of_agent()),
    )
    return {"metrics.md": text}


def _of_agent() -> _Listing:
    registry = _Listing()
    AgentMetrics(registry)
    register_readiness(registry, Health(), name="fleetgate_agent_ready")
    for server in (HUB_OF_AGENT, MEMBER_OF_AGENT):
        register_client(registry, _Client(), bounds=(), server=server)
    return registry


class _Client:
    """A client that has asked for nothing yet."""

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
    # Nothing public tells the labels of a metric that has no sample yet.
    return tuple(vars(family).get("_labelnames") or vars(collector).get("_labelnames", ()))
