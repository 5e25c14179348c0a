"""Metrics of placements and members (contract: placement 7.6)."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from api.base import format_time
from api.kinds import CLUSTER_SCOPE
from api.members import MemberCluster
from placement.metrics import NAME, MemberSilence, PlacementMetrics
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


def test_each_step_of_a_placement_has_a_timestamp() -> None:
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


def test_a_deleted_placement_has_no_series() -> None:
    registry = CollectorRegistry()
    metrics = PlacementMetrics(registry)
    note(metrics)
    metrics.forget(KEY)
    metrics.forget(("", "never seen"))
    assert samples(registry) == []


def test_the_silence_of_a_member_starts_at_its_last_heartbeat() -> None:
    registry = CollectorRegistry()
    now = datetime.now(UTC)
    members = [
        heard_of("late", now - timedelta(minutes=10)),
        heard_of("ahead", now + timedelta(minutes=10)),
        heard_of("never", None),
    ]
    registry.register(MemberSilence(lambda: members))
    (family,) = registry.collect()
    silence = {sample.labels["member"]: sample.value for sample in family.samples}
    assert silence == {"late": pytest.approx(600, abs=60), "ahead": 0}


def heard_of(name: str, heartbeat: datetime | None) -> MemberCluster:
    agent = {"type": "MemberAgent", "conditions": []}
    if heartbeat is not None:
        agent["lastReceivedHeartbeat"] = format_time(heartbeat)
    identity = {"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}
    return MemberCluster.from_wire(
        {
            "apiVersion": "cluster.kubernetes-fleet.io/v1beta1",
            "kind": "MemberCluster",
            "metadata": {"name": name},
            "spec": {"identity": identity},
            "status": {"agentStatus": [agent]},
        }
    )
