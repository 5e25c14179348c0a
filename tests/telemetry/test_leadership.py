"""Metrics of the roles that a process leads."""

from prometheus_client import CollectorRegistry

from telemetry import LeadershipMetrics


def test_each_start_and_end_of_leadership_counts_once() -> None:
    registry = CollectorRegistry()
    metrics = LeadershipMetrics(registry)
    seen = []
    for leads in (False, True, True, False, False, True):
        metrics.note("bridge", leads=leads)
        seen.append(
            tuple(
                registry.get_sample_value(name, {"part": "bridge"})
                for name in ("fleetgate_leader", "fleetgate_leader_transitions_total")
            )
        )
    assert seen == [(0, None), (1, 1), (1, 1), (0, 2), (0, 2), (1, 3)]


def test_roles_are_counted_separately() -> None:
    registry = CollectorRegistry()
    metrics = LeadershipMetrics(registry)
    metrics.note("bridge", leads=True)
    metrics.note("placement", leads=False)
    assert registry.get_sample_value("fleetgate_leader", {"part": "bridge"}) == 1
    assert registry.get_sample_value("fleetgate_leader", {"part": "placement"}) == 0
