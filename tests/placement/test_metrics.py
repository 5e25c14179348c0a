"""Where placements are shows in a metric (contract: placement 7.6)."""

import time
from typing import Any

from prometheus_client import CollectorRegistry

from api.kinds import CLUSTER_SCOPE
from placement.metrics import NAME, PlacementMetrics
from tests.planning.placements.statuses import condition, placement

KEY = ("", "p")


def samples(registry: CollectorRegistry) -> list[tuple[dict[str, str], float]]:
    return [
        (dict(sample.labels), sample.value)
        for family in registry.collect()
        for sample in family.samples
        if sample.name == NAME
    ]


def note(metrics: PlacementMetrics, **before: Any) -> None:
    metrics.note(KEY, placement(before=before), scope=CLUSTER_SCOPE)


def test_each_step_of_a_placement_has_its_time() -> None:
    registry = CollectorRegistry()
    metrics = PlacementMetrics(registry)
    begun = time.time()

    note(metrics)
    scheduled = condition("ClusterResourcePlacementScheduled", "False", 4)
    note(metrics, conditions=[scheduled])

    (first, at), (second, later) = samples(registry)
    assert (first["status"], second["status"]) == ("nil", "False")
    assert second == {
        "namespace": "",
        "name": "p",
        "generation": "4",
        "conditionType": "ClusterResourcePlacementScheduled",
        "status": "False",
        "reason": "Test",
    }
    assert begun <= at <= later <= time.time()


def test_a_placement_that_is_gone_has_no_series() -> None:
    registry = CollectorRegistry()
    metrics = PlacementMetrics(registry)
    note(metrics)
    metrics.forget(KEY)
    metrics.forget(("", "never seen"))
    assert samples(registry) == []
