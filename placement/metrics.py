"""The metric of placements, under the name by which KubeFleet's dashboards know it.

contract: placement 7.6
"""

from typing import Final

from prometheus_client import CollectorRegistry, Gauge

from api.kinds import Scope
from api.placements import Placement
from hub import Key
from planning.placements import placement_metrics

NAME: Final = "fleet_workload_placement_status_last_timestamp_seconds"
LABELS: Final = ("namespace", "name", "generation", "conditionType", "status", "reason")


class PlacementMetrics:
    """Says of each placement since when it is where it is."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._status = Gauge(
            NAME, "Last update timestamp of placement status in seconds", LABELS, registry=registry
        )

    def note(self, key: Key, placement: Placement, *, scope: Scope) -> None:
        """Take over what a placement says of itself now."""
        said = placement_metrics.labels(placement, scope=scope)
        self._status.labels(**_named(key), **said).set_to_current_time()

    def forget(self, key: Key) -> None:
        """Show nothing more of a placement that is gone."""
        self._status.remove_by_labels(_named(key))


def _named(key: Key) -> dict[str, str]:
    namespace, name = key
    return {"namespace": namespace, "name": name}
