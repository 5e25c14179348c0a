"""Metrics of placements, under the name that KubeFleet's dashboards use, and of members.

contract: placement 7.6
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Final

from prometheus_client import CollectorRegistry, Gauge, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from api.kinds import Scope
from api.members import MemberCluster
from api.placements import Placement
from hub import Key
from planning.placements import eligibility, placement_progress

NAME: Final = "fleet_workload_placement_status_last_timestamp_seconds"
LABELS: Final = ("namespace", "name", "generation", "conditionType", "status", "reason")


class PlacementMetrics:
    """The time of each placement's last status change."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._status = Gauge(
            NAME, "Last update timestamp of placement status in seconds", LABELS, registry=registry
        )

    def note(self, key: Key, placement: Placement, *, scope: Scope) -> None:
        """Record the current status of a placement."""
        said = placement_progress.labels(placement, scope=scope)
        self._status.labels(**_named(key), **said).set_to_current_time()

    def forget(self, key: Key) -> None:
        """Remove the series of a deleted placement."""
        self._status.remove_by_labels(_named(key))


class MemberSilence(Collector):
    """The time since each member's last heartbeat; none for a member without one."""

    def __init__(self, members: Callable[[], Iterable[MemberCluster]]) -> None:
        self._members = members

    def collect(self) -> Iterable[Metric]:
        """Yield one series per member."""
        family = GaugeMetricFamily(
            "fleetgate_member_silence_seconds",
            "Time since the last heartbeat of a member's agent",
            labels=("member",),
        )
        now = datetime.now(UTC)
        for member in self._members():
            if (silent := eligibility.silence(member, now=now)) is not None:
                # The clock of the member may be ahead of this one.
                family.add_metric((member.metadata.name,), max(silent.total_seconds(), 0))
        yield family


def _named(key: Key) -> dict[str, str]:
    namespace, name = key
    return {"namespace": namespace, "name": name}
