"""The metrics of update runs, under the names that KubeFleet's dashboards use.

They are computed from the runs on the hub, so every process with a bridge shows the same.

contract: update-runs 13
"""

from typing import Final

from prometheus_client import CollectorRegistry, Gauge, Histogram

from api.runs import UpdateRun
from bridge.standings import Standings
from hub import Key
from planning.runs import run_metrics
from planning.runs.run_metrics import Reading

PREFIX: Final = "fleet_workload_update_run_"
APPROVAL_BUCKETS: Final = (60, 300, 900, 1800, 3600, 7200, 21600, 43200, 86400)
"""Bucket limits in seconds: people answer within minutes, or the next day."""
STAGE_BUCKETS: Final = (15, 30, 60, 120, 300, 600, 1800, 3600)
"""Bucket limits in seconds."""


class RunMetrics:
    """Keeps the series of all runs up to date."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._readings: dict[Key, Reading] = {}
        self._status = Gauge(
            f"{PREFIX}status_last_timestamp_seconds",
            "Last update timestamp of update run status in seconds",
            ("namespace", "name", "state", "condition", "status", "reason", "failureType"),
            registry=registry,
        )
        self._approvals = Histogram(
            f"{PREFIX}approval_request_latency_seconds",
            "The latency from approval request creation to user approval in seconds",
            ("namespace", "name", "taskType"),
            buckets=APPROVAL_BUCKETS,
            registry=registry,
        )
        self._stages = Histogram(
            f"{PREFIX}stage_cluster_updating_duration_seconds",
            "The duration the stage of an update run in seconds without stage tasks execution time",
            ("namespace", "name"),
            buckets=STAGE_BUCKETS,
            registry=registry,
        )

        self._standings = Standings()
        registry.register(self._standings)

    def note(self, key: Key, run: UpdateRun | None) -> None:
        """Record the current state of a run on the hub; None if it is gone."""
        if run is None or run.metadata.deletion_timestamp:
            self._forget(key)
            return
        self._standings.note(key, run)
        before = self._readings.get(key)
        if before and before.uid != run.metadata.uid:
            self._forget(key)
            before = None
        after = self._readings[key] = run_metrics.read(run)
        self._show_status(key, run)
        # Whatever had happened when the run was first seen was observed by an earlier bridge. Once
        # a run is over, its stages are no longer read.
        if before and not before.over:
            self._observe(key, before, after)

    def _show_status(self, key: Key, run: UpdateRun) -> None:
        if labels := run_metrics.status_labels(run):
            self._status.labels(**_named(key), **labels).set_to_current_time()

    def _observe(self, key: Key, before: Reading, after: Reading) -> None:
        for task_type, latency in run_metrics.new_approvals(before, after):
            series = self._approvals.labels(**_named(key), taskType=task_type)
            series.observe(latency.total_seconds())
        for taken in run_metrics.new_stages(before, after):
            self._stages.labels(**_named(key)).observe(taken.total_seconds())

    def _forget(self, key: Key) -> None:
        self._readings.pop(key, None)
        self._standings.forget(key)
        for metric in (self._status, self._approvals, self._stages):
            metric.remove_by_labels(_named(key))


def _named(key: Key) -> dict[str, str]:
    namespace, name = key
    return {"namespace": namespace, "name": name}
