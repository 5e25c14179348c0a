"""Metrics of the current state of runs: runs per phase, failed runs, clusters, waiting gates."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from api.kinds import ScopeName
from api.runs import UpdateRun, UpdateRunStatus
from hub import Key
from planning.runs import gates, phases
from planning.runs.gates import PendingApproval
from planning.runs.phases import ENDED, Phase, Progress


@dataclass(frozen=True, slots=True)
class _Standing:
    phase: Phase
    approvals: tuple[PendingApproval, ...]
    status: UpdateRunStatus | None
    """None of a run that is over."""
    placement: str
    uid: str


class Standings(Collector):
    """Keeps the state of each run; waiting times are computed when metrics are collected."""

    def __init__(self) -> None:
        self._standings: dict[Key, _Standing] = {}

    def note(self, key: Key, run: UpdateRun) -> None:
        """Record the current state of a run on the hub."""
        phase = phases.phase(run.status)
        self._standings[key] = _Standing(
            phase=phase,
            approvals=gates.closed(run.status).approvals,
            status=None if phase in ENDED else run.status,
            placement=run.spec.placement_name,
            uid=run.metadata.uid,
        )

    def forget(self, key: Key) -> None:
        """Drop a run that is gone."""
        self._standings.pop(key, None)

    def collect(self) -> Iterable[Metric]:
        """Return a series for every phase, even without runs, and for each waiting gate."""
        return [
            self._phases(),
            self._active(),
            self._failures(),
            self._clusters(),
            self._gates(),
        ]

    def _phases(self) -> GaugeMetricFamily:
        family = GaugeMetricFamily(
            "fleetgate_runs", "Number of update runs on the hub, by phase", labels=("phase",)
        )
        found = Counter(each.phase for each in self._standings.values())
        for phase in Phase:
            family.add_metric((phase,), found[phase])
        return family

    def _active(self) -> GaugeMetricFamily:
        family = GaugeMetricFamily(
            "fleetgate_run_phase",
            "1 for the current phase of each update run that is not over",
            labels=("namespace", "placement", "run", "phase"),
        )
        for names, standing in self._sorted():
            if standing.phase not in ENDED:
                family.add_metric((*names, standing.phase), 1)
        return family

    def _failures(self) -> CounterMetricFamily:
        # Failures are read from the hub, so a run that failed while no bridge was running counts
        # too. Successful runs have no series here, because they are of no interest one by one.
        family = CounterMetricFamily(
            "fleetgate_run_failures",
            "1 for each update run on the hub that failed, until it is deleted; the uid "
            "distinguishes it from a later run with the same name",
            labels=("scope", "namespace", "placement", "run", "uid"),
        )
        for names, standing in self._sorted():
            if standing.phase is Phase.FAILED:
                namespace, *_ = names
                family.add_metric((_scope(namespace), *names, standing.uid), 1)
        return family

    def _clusters(self) -> GaugeMetricFamily:
        family = GaugeMetricFamily(
            "fleetgate_run_clusters",
            "Number of clusters of each update run that is not over, by stage and progress; except "
            "for done, without a series where there are none",
            labels=("namespace", "placement", "run", "stage", "progress"),
        )
        for names, standing in self._sorted():
            if standing.status:
                for (stage, progress), number in sorted(_by_progress(standing.status).items()):
                    family.add_metric((*names, stage, progress), number)
        return family

    def _gates(self) -> GaugeMetricFamily:
        family = GaugeMetricFamily(
            "fleetgate_gates_waiting_seconds",
            "Time in seconds that a gate has been waiting for approval",
            labels=("namespace", "placement", "run", "stage", "side"),
        )
        now = datetime.now(UTC)
        for names, standing in self._sorted():
            for gate in standing.approvals:
                # The clock that set `since` may be ahead of this one.
                waited = max((now - (gate.since or now)).total_seconds(), 0)
                family.add_metric((*names, gate.stage, gate.side), waited)
        return family

    def _sorted(self) -> Iterator[tuple[tuple[str, str, str], _Standing]]:
        """Yield each run with its namespace, its placement and its name."""
        for namespace, name in sorted(self._standings):
            standing = self._standings[namespace, name]
            yield (namespace, standing.placement, name), standing


def _by_progress(status: UpdateRunStatus) -> Counter[tuple[str, Progress]]:
    """Count the clusters of each stage by their progress, and those that are done even if 0."""
    stages = phases.stages(status)
    found = Counter({(stage.stage_name, Progress.DONE): 0 for stage in stages})
    found.update(
        (stage.stage_name, phases.cluster_progress(cluster))
        for stage in stages
        for cluster in stage.clusters
    )
    return found


def _scope(namespace: str) -> str:
    scope = ScopeName.NAMESPACED if namespace else ScopeName.CLUSTER
    return scope.name.lower()
