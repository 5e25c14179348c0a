"""The metrics of runs, for simulated changes of runs."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from api.runs import ClusterStatus, UpdateRun
from bridge.metrics import RunMetrics
from planning.runs.phases import Phase
from telemetry import process_registry
from tests.support import conditions

PREFIX = "fleet_workload_update_run_"
STATUS = f"{PREFIX}status_last_timestamp_seconds"
LATENCY = f"{PREFIX}approval_request_latency_seconds"
DURATION = f"{PREFIX}stage_cluster_updating_duration_seconds"
KEY = ("team", "v2")


@pytest.fixture
def registry() -> CollectorRegistry:
    return process_registry()


@pytest.fixture
def metrics(registry: CollectorRegistry) -> RunMetrics:
    return RunMetrics(registry)


def condition(kind: str, minute: int, status: str = "True", reason: str = "") -> dict[str, Any]:
    at = f"2026-01-02T03:{minute:02}:00Z"
    return conditions.condition(kind, status, reason=reason, at=at)


def run(*conditions: dict[str, Any], done: bool = False, **meta: Any) -> UpdateRun:
    """Return a run with an approval and one stage with one cluster, both complete if `done`."""
    task = [condition("ApprovalRequestCreated", 0)]
    cluster = [condition("Started", 4)]
    if done:
        task.append(condition("ApprovalRequestApproved", 4))
        cluster.append(condition("Succeeded", 5))
    stage = {
        "stageName": "one",
        "startTime": "2026-01-02T03:04:00Z",
        "clusters": [{"clusterName": "a", "conditions": cluster}],
        "beforeStageTaskStatus": [{"type": "Approval", "conditions": task}],
    }
    return UpdateRun.from_wire(
        {
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "StagedUpdateRun",
            "metadata": {"name": "v2", "namespace": "team", "uid": "u-1", "generation": 1} | meta,
            "spec": {
                "placementName": "web",
                "stagedRolloutStrategyName": "slow",
                "state": "Run",
            },
            "status": {
                "conditions": list(conditions),
                "stagedUpdateStrategySnapshot": {
                    "stages": [{"name": "one", "beforeStageTasks": [{"type": "Approval"}]}]
                },
                "stagesStatus": [stage],
            },
        }
    )


INITIALIZED = condition("Initialized", 3)
STARTED = condition("Progressing", 4, reason="UpdateRunProgressing")
SUCCEEDED = condition("Succeeded", 5, reason="UpdateRunSucceeded")


def labels(**changed: str) -> dict[str, str]:
    return {
        "namespace": "team",
        "name": "v2",
        "state": "Run",
        "condition": "Progressing",
        "status": "True",
        "reason": "UpdateRunProgressing",
        "failureType": "none",
    } | changed


def test_metrics_have_the_same_names_types_and_help_as_in_kubefleet(
    metrics: RunMetrics, registry: CollectorRegistry
) -> None:
    text = generate_latest(registry).decode()
    for name, kind, help_text in (
        (STATUS, "gauge", "Last update timestamp of update run status in seconds"),
        (
            LATENCY,
            "histogram",
            "The latency from approval request creation to user approval in seconds",
        ),
        (
            DURATION,
            "histogram",
            "The duration the stage of an update run in seconds without stage tasks execution time",
        ),
    ):
        assert f"# HELP {name} {help_text}\n# TYPE {name} {kind}\n" in text


def test_the_status_metric_is_the_time_of_the_last_change(
    metrics: RunMetrics, registry: CollectorRegistry
) -> None:
    began = time.time()
    metrics.note(KEY, run(STARTED))
    value = registry.get_sample_value(STATUS, labels())
    assert value is not None
    assert began <= value <= time.time()


def test_old_combinations_stay_until_the_run_is_deleted(
    metrics: RunMetrics, registry: CollectorRegistry
) -> None:
    metrics.note(KEY, run(STARTED))
    metrics.note(KEY, run(STARTED, SUCCEEDED))
    succeeded = labels(condition="Succeeded", reason="UpdateRunSucceeded")
    assert registry.get_sample_value(STATUS, labels())
    assert registry.get_sample_value(STATUS, succeeded)


def test_a_run_without_namespace_has_an_empty_label(
    metrics: RunMetrics, registry: CollectorRegistry
) -> None:
    metrics.note(("", "v2"), run(STARTED))
    assert registry.get_sample_value(STATUS, labels(namespace=""))


def test_approvals_and_stages_are_observed_when_they_happen(
    metrics: RunMetrics, registry: CollectorRegistry
) -> None:
    metrics.note(KEY, run(STARTED))
    for _ in range(2):
        metrics.note(KEY, run(STARTED, done=True))
    named = {"namespace": "team", "name": "v2"}
    task = named | {"taskType": "beforeStage"}
    assert registry.get_sample_value(f"{LATENCY}_count", task) == 1
    assert registry.get_sample_value(f"{LATENCY}_sum", task) == 240
    assert registry.get_sample_value(f"{DURATION}_count", named) == 1
    assert registry.get_sample_value(f"{DURATION}_sum", named) == 60


@pytest.mark.parametrize(
    ("name", "series", "bounds"),
    [
        (
            LATENCY,
            {"taskType": "beforeStage"},
            (60, 300, 900, 1800, 3600, 7200, 21600, 43200, 86400),
        ),
        (DURATION, {}, (15, 30, 60, 120, 300, 600, 1800, 3600)),
    ],
)
def test_buckets_are_the_same_as_in_kubefleet(
    metrics: RunMetrics,
    registry: CollectorRegistry,
    name: str,
    series: dict[str, str],
    bounds: tuple[int, ...],
) -> None:
    metrics.note(KEY, run(STARTED))
    metrics.note(KEY, run(STARTED, done=True))
    found = [
        sample.labels
        for family in registry.collect()
        for sample in family.samples
        if sample.name == f"{name}_bucket"
    ]
    assert found == [
        {"namespace": "team", "name": "v2"} | series | {"le": bound}
        for bound in [*(f"{each:.1f}" for each in bounds), "+Inf"]
    ]


def test_what_happened_before_a_run_was_first_seen_is_not_observed(
    metrics: RunMetrics, registry: CollectorRegistry
) -> None:
    metrics.note(KEY, run(SUCCEEDED, done=True))
    text = generate_latest(registry).decode()
    assert f"{STATUS}{{" in text
    assert f"{LATENCY}_count{{" not in text
    assert f"{DURATION}_count{{" not in text


@pytest.mark.parametrize(
    "left",
    [None, run(SUCCEEDED, done=True, deletionTimestamp="2026-01-02T03:06:00Z")],
    ids=["gone", "going"],
)
def test_a_deleted_run_leaves_no_series_but_others_stay(
    metrics: RunMetrics, registry: CollectorRegistry, left: UpdateRun | None
) -> None:
    for name in ("v2", "v3"):
        metrics.note(("team", name), run(STARTED))
        metrics.note(("team", name), run(STARTED, done=True))
    metrics.note(KEY, left)
    text = generate_latest(registry).decode()
    assert 'name="v2"' not in text
    assert registry.get_sample_value(STATUS, labels(name="v3"))
    assert registry.get_sample_value(f"{DURATION}_count", {"namespace": "team", "name": "v3"}) == 1


def test_a_new_run_with_the_same_name_starts_with_no_series(
    metrics: RunMetrics, registry: CollectorRegistry
) -> None:
    metrics.note(KEY, run(STARTED))
    metrics.note(KEY, run(STARTED, SUCCEEDED, done=True, uid="u-2"))
    text = generate_latest(registry).decode()
    assert 'condition="Progressing"' not in text
    assert f"{DURATION}_count{{" not in text


def test_runs_are_counted_by_phase_including_empty_phases(
    metrics: RunMetrics, registry: CollectorRegistry
) -> None:
    metrics.note(KEY, run(INITIALIZED, STARTED))
    metrics.note(("", "v3"), run(INITIALIZED, STARTED, SUCCEEDED))
    found = {
        phase: registry.get_sample_value("fleetgate_runs", {"phase": phase}) for phase in Phase
    }
    assert found == dict.fromkeys(Phase, 0) | {Phase.RUNNING: 1, Phase.SUCCEEDED: 1}


NAMES = {"namespace": "team", "placement": "web", "run": "v2"}


def test_each_run_that_is_not_over_shows_its_phase(
    metrics: RunMetrics, registry: CollectorRegistry
) -> None:
    def shown() -> list[dict[str, str]]:
        return [
            dict(sample.labels)
            for family in registry.collect()
            for sample in family.samples
            if sample.name == "fleetgate_run_phase"
        ]

    metrics.note(KEY, run(INITIALIZED, STARTED))
    assert shown() == [{"namespace": "team", "placement": "web", "run": "v2", "phase": "running"}]
    metrics.note(KEY, run(INITIALIZED, STARTED, SUCCEEDED))
    assert shown() == []
    metrics.note(KEY, run(INITIALIZED))
    metrics.note(KEY, None)
    assert shown() == []


def test_a_gate_that_waits_for_approval_shows_for_how_long(
    metrics: RunMetrics, registry: CollectorRegistry
) -> None:
    gate = NAMES | {"stage": "one", "side": "before"}
    metrics.note(KEY, run(INITIALIZED, STARTED))
    waited = registry.get_sample_value("fleetgate_gates_waiting_seconds", gate)
    asked_at = datetime(2026, 1, 2, 3, tzinfo=UTC).timestamp()
    assert waited == pytest.approx(time.time() - asked_at, abs=60)
    metrics.note(KEY, run(INITIALIZED, STARTED, done=True))
    assert registry.get_sample_value("fleetgate_gates_waiting_seconds", gate) is None


FAILED = condition("Succeeded", 5, status="False", reason="UpdateRunFailed")
UNPLANNED = condition("Initialized", 3, status="False", reason="UpdateRunInitializedFailed")
FAILURES = "fleetgate_run_failures_total"


def failures(registry: CollectorRegistry) -> list[tuple[dict[str, str], float]]:
    return [
        (dict(sample.labels), sample.value)
        for family in registry.collect()
        for sample in family.samples
        if sample.name == FAILURES
    ]


@pytest.mark.parametrize(
    "end", [[INITIALIZED, FAILED], [UNPLANNED]], ids=["failed", "could not be planned"]
)
def test_a_run_that_had_failed_when_first_seen_counts_until_it_is_deleted(
    metrics: RunMetrics, registry: CollectorRegistry, end: list[dict[str, Any]]
) -> None:
    metrics.note(KEY, run(*end))
    metrics.note(("", "v3"), run(*end, uid="u-3"))
    of_placement = {"placement": "web"}
    assert failures(registry) == [
        ({"scope": "cluster", "namespace": "", "run": "v3", "uid": "u-3"} | of_placement, 1),
        ({"scope": "namespaced", "namespace": "team", "run": "v2", "uid": "u-1"} | of_placement, 1),
    ]
    metrics.note(KEY, None)
    assert [each["run"] for each, _ in failures(registry)] == ["v3"]


def test_only_failed_runs_have_a_series_of_failures(
    metrics: RunMetrics, registry: CollectorRegistry
) -> None:
    metrics.note(KEY, run(INITIALIZED, STARTED))
    assert failures(registry) == []
    metrics.note(("", "v3"), run(INITIALIZED, STARTED, SUCCEEDED))
    assert failures(registry) == []


def test_a_later_run_with_the_same_name_that_fails_is_another_failure(
    metrics: RunMetrics, registry: CollectorRegistry
) -> None:
    metrics.note(KEY, run(INITIALIZED, FAILED))
    metrics.note(KEY, run(STARTED, uid="u-2"))
    assert failures(registry) == []
    metrics.note(KEY, run(INITIALIZED, FAILED, uid="u-2"))
    assert [each["uid"] for each, _ in failures(registry)] == ["u-2"]


def test_the_clusters_of_a_run_are_counted_by_stage_and_progress_until_it_is_over(
    registry: CollectorRegistry, metrics: RunMetrics
) -> None:
    paused = [condition("Initialized", 1), condition("Progressing", 2, "False", "UpdateRunPaused")]
    found = run(*paused)
    ends = ("ClusterUpdatingTimedOut", "ClusterUpdatingTimedOut", "ClusterUpdatingSkipped", "")
    found.status.stages_status[0].clusters = [
        ClusterStatus.from_wire(
            {
                "clusterName": f"c{number}",
                "conditions": [condition("Succeeded", 5, "False" if why else "True", why)],
            }
        )
        for number, why in enumerate(ends)
    ]

    def counted(progress: str) -> float | None:
        labels = NAMES | {"stage": "one", "progress": progress}
        return registry.get_sample_value("fleetgate_run_clusters", labels)

    metrics.note(KEY, found)
    assert (counted("failed"), counted("skipped"), counted("done")) == (2, 1, 1)
    assert counted("updating") is None
    assert registry.get_sample_value("fleetgate_run_phase", NAMES | {"phase": "paused"}) == 1
    found.status.conditions.append(run(condition("Succeeded", 6)).status.conditions[0])
    metrics.note(KEY, found)
    assert counted("failed") is None
