"""Where runs are now, in numbers: how many in each phase, which failed, which gates wait."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from api.kinds import ScopeName
from api.runs import UpdateRun
from hub import Key
from planning.runs import phases, run_metrics
from planning.runs.phases import ENDED, Phase
from planning.runs.run_metrics import WaitingGate


@dataclass(frozen=True, slots=True)
class _Standing:
    phase: Phase
    gates: list[WaitingGate]
    placement: str
    uid: str


class Standings(Collector):
    """Keeps where each run is; what grows with time is counted when somebody asks."""

    def __init__(self) -> None:
        self._standings: dict[Key, _Standing] = {}

    def note(self, key: Key, run: UpdateRun) -> None:
        """Take over what the hub says of a run now."""
        self._standings[key] = _Standing(
            phase=phases.phase(run.status),
            gates=run_metrics.waiting_gates(run),
            placement=run.spec.placement_name,
            uid=run.metadata.uid,
        )

    def forget(self, key: Key) -> None:
        """A run is gone."""
        self._standings.pop(key, None)

    def collect(self) -> Iterable[Metric]:
        """Each phase has a series, also without a run; gates have one while they wait."""
        return [self._phases(), self._active(), self._failures(), self._gates()]

    def _phases(self) -> GaugeMetricFamily:
        family = GaugeMetricFamily(
            "fleetgate_runs", "Update runs on the hub, by where they are", labels=("phase",)
        )
        found = Counter(each.phase for each in self._standings.values())
        for phase in Phase:
            family.add_metric((phase,), found[phase])
        return family

    def _active(self) -> GaugeMetricFamily:
        family = GaugeMetricFamily(
            "fleetgate_run_phase",
            "1 for the phase of each update run that is not over",
            labels=("namespace", "run", "phase"),
        )
        for key in sorted(self._standings):
            standing = self._standings[key]
            if standing.phase not in ENDED:
                family.add_metric((*key, standing.phase), 1)
        return family

    def _failures(self) -> CounterMetricFamily:
        # What has failed is read off the hub: a run that failed while no bridge was there counts
        # as well. Nobody looks for runs that succeed one by one, so they have no series here.
        family = CounterMetricFamily(
            "fleetgate_run_failures",
            "1 for each update run on the hub that failed, until it is deleted; the uid tells it "
            "from a later run of the same name",
            labels=("scope", "namespace", "placement", "run", "uid"),
        )
        for key in sorted(self._standings):
            standing = self._standings[key]
            if standing.phase is Phase.FAILED:
                namespace, name = key
                labels = (_scope(namespace), namespace, standing.placement, name, standing.uid)
                family.add_metric(labels, 1)
        return family

    def _gates(self) -> GaugeMetricFamily:
        family = GaugeMetricFamily(
            "fleetgate_gates_waiting_seconds",
            "How long a gate has waited for a person's approval",
            labels=("namespace", "run", "stage", "side"),
        )
        now = datetime.now(UTC)
        for key in sorted(self._standings):
            for gate in self._standings[key].gates:
                # The clock of whoever asked may be ahead of this one.
                waited = max((now - gate.since).total_seconds(), 0)
                family.add_metric((*key, gate.stage, gate.side), waited)
        return family


def _scope(namespace: str) -> str:
    scope = ScopeName.NAMESPACED if namespace else ScopeName.CLUSTER
    return scope.name.lower()
