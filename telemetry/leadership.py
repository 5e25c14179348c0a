"""Metrics of the roles that this process leads."""

from prometheus_client import CollectorRegistry, Counter, Gauge


class LeadershipMetrics:
    """Shows for each role with leader election whether this process leads it."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._leader = Gauge(
            "fleetgate_leader",
            "Whether this process leads a role (1) or stands by (0)",
            ("part",),
            registry=registry,
        )
        self._transitions = Counter(
            "fleetgate_leader_transitions",
            "Number of times that this process started or stopped leading a role",
            ("part",),
            registry=registry,
        )
        self._leads: dict[str, bool] = {}

    def note(self, part: str, *, leads: bool) -> None:
        """Record whether this process leads a role."""
        if leads != self._leads.get(part, False):
            self._transitions.labels(part=part).inc()
        self._leads[part] = leads
        self._leader.labels(part=part).set(leads)
