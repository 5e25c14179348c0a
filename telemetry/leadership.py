"""Which parts of the work this process leads, in numbers."""

from prometheus_client import CollectorRegistry, Counter, Gauge


class LeadershipMetrics:
    """Shows for each part that processes take turns at whether it is this one's turn."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._leader = Gauge(
            "fleetgate_leader",
            "Whether this process leads a part (1) or stands by (0)",
            ("part",),
            registry=registry,
        )
        self._transitions = Counter(
            "fleetgate_leader_transitions",
            "How often this process began or ceased to lead a part",
            ("part",),
            registry=registry,
        )
        self._leads: dict[str, bool] = {}

    def note(self, part: str, *, leads: bool) -> None:
        """Take over whether this process leads a part."""
        if leads != self._leads.get(part, False):
            self._transitions.labels(part=part).inc()
        self._leads[part] = leads
        self._leader.labels(part=part).set(leads)
