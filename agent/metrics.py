"""Metrics of agents: the results of Works, and when a heartbeat last reached the hub."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from planning.members.outcomes import ManifestOutcome

BUCKETS: Final = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
"""In seconds: a small Work takes three requests, a Work with hundreds of objects takes a minute."""
APPLIED: Final = "applied"
FAILED: Final = "failed"
INTERRUPTED: Final = "interrupted"
RESULTS: Final = (APPLIED, FAILED, INTERRUPTED)


class AgentMetrics:
    """Metrics of the agents in one process, labelled by member."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._works = Counter(
            "fleetgate_agent_works_processed",
            "Attempts to bring a Work to the member, by result: `applied` with all its objects (or "
            "compared, for ReportDiff), `failed` if at least one was refused, `interrupted` if an "
            "API server did not answer",
            ("member", "result"),
            registry=registry,
        )
        self._durations = Histogram(
            "fleetgate_agent_apply_duration_seconds",
            "Time to bring a Work to the member",
            ("member",),
            buckets=BUCKETS,
            registry=registry,
        )
        self._heartbeat = Gauge(
            "fleetgate_agent_last_heartbeat_timestamp_seconds",
            "When the hub last accepted a heartbeat of the agent",
            ("member",),
            registry=registry,
        )

    def of(self, member: str) -> "MemberMetrics":
        """Return the metrics of one member's agent."""
        # Create each series up front, or the first failure would not show as an increase.
        for result in RESULTS:
            self._works.labels(member, result)
        return MemberMetrics(member, self._works, self._durations, self._heartbeat)

    def forget(self, member: str) -> None:
        """Drop the series of a member whose agent has ended."""
        for metric in (self._works, self._durations, self._heartbeat):
            metric.remove_by_labels({"member": member})


class MemberMetrics:
    """Metrics of one agent."""

    def __init__(self, member: str, works: Counter, durations: Histogram, heartbeat: Gauge) -> None:
        self._member = member
        self._works = works
        self._durations = durations
        self._heartbeat = heartbeat

    def processed(self, outcomes: Iterable[ManifestOutcome], *, taken: timedelta) -> None:
        """Record the result of a Work that was brought to the member."""
        done = all(each.refusal is None for each in outcomes)
        self._works.labels(self._member, APPLIED if done else FAILED).inc()
        self._durations.labels(self._member).observe(taken.total_seconds())

    def interrupted(self) -> None:
        """Record that processing a Work failed because an API server did not answer."""
        self._works.labels(self._member, INTERRUPTED).inc()

    def beat(self) -> None:
        """Record that the hub accepted a heartbeat."""
        self._heartbeat.labels(self._member).set_to_current_time()
