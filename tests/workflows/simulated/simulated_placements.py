"""Several runs of one placement in virtual time, with what the bridge does between them."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from api.kinds import ScopeName
from api.reasons import ConditionType
from api.rollout_policies import ConcurrentRuns
from api.rollout_reports import PolicyField
from planning import conditions
from planning.identity import RunRef
from planning.policies import queueing
from planning.policies.queueing import Standing
from planning.runs.rules import RunRules
from tests.workflows.simulated.simulated_runs import BRIDGE, SimulatedRun, StageOf, stage
from tests.workflows.simulated.timeline import Timeline
from tests.workflows.simulated.virtual_temporal import VirtualTemporal
from workflows.messages import QUEUE_MOVED, Recheck


def rules(mode: ConcurrentRuns) -> RunRules:
    """Return the rules of a policy that says this about concurrent runs."""
    source = PolicyField(name="concurrentRuns", value=str(mode), policy="p", generation=1)
    return RunRules(concurrent_runs=mode, fields=[source])


class SimulatedPlacement:
    """The runs of a placement; fails as soon as two of them have begun at the same time."""

    def __init__(self, mode: ConcurrentRuns, *, scope: ScopeName = ScopeName.CLUSTER) -> None:
        self.timeline = Timeline()
        self.runs: list[SimulatedRun] = []
        self.bridged = True
        """Whether a bridge wakes runs that wait."""
        self._mode = mode
        self._scope = scope
        self._workflows: dict[str, VirtualTemporal] = {}
        self._standings: dict[str, Standing] = {}

    def begin(
        self,
        name: str,
        *stages: StageOf,
        mode: ConcurrentRuns | None = None,
        created: datetime | None = None,
        **fields: Any,
    ) -> SimulatedRun:
        """Create a run, by default of one stage with two clusters, one at a time."""
        namespace = "team" if self._scope is ScopeName.NAMESPACED else ""
        ref = RunRef(scope_name=self._scope, namespace=namespace, name=name, uid=f"uid-{name}")
        run = SimulatedRun(
            *(stages or (stage("one", "a", "b"),)),
            ref=ref,
            rules=rules(mode or self._mode),
            timeline=self.timeline,
            others=self._workflows,
            **fields,
        )
        run.hub.created = created or run.hub.created
        run.hub.runs = lambda: [each.hub.object for each in self.runs if each.hub.exists]
        run.hub.changed = partial(self._changed, run)
        self.runs.append(run)
        self._workflows[ref.workflow_id] = run.temporal
        self._changed(run)
        return run

    def wait(self, seconds: float) -> None:
        """Let some time pass."""
        self.timeline.wait(timedelta(seconds=seconds))

    def until(self, happened: Callable[[], bool], what: str, *, within: float = 86_400) -> None:
        """Let time pass until something has happened."""
        self.runs[0].temporal.until(happened, what, within=timedelta(seconds=within))

    def until_begun(self, run: SimulatedRun, *, within: float = 86_400) -> None:
        """Let time pass until a run has begun."""
        self.until(lambda: has_begun(run), f"{run.hub.run.name} has begun", within=within)

    @property
    def at_work(self) -> list[str]:
        """The runs that have begun and are not over."""
        live = [each for each in self.runs if each.hub.exists]
        return [each.hub.run.name for each in live if queueing.standing(each.hub.object).begun]

    def start_bridge(self) -> None:
        """Start a bridge, which wakes all runs that wait."""
        self.bridged = True
        for run in self.runs:
            if self._standings[run.hub.run.name].waits:
                self._wake(run)

    def _changed(self, changed: SimulatedRun) -> None:
        name = changed.hub.run.name
        before = self._standings.get(name)
        after = queueing.standing(changed.hub.object)
        if not changed.hub.exists:
            after = Standing(after.uid, after.placement, after.state, False, False, False, False)
        self._standings[name] = after
        assert len(self.at_work) <= 1, f"{self.at_work} have begun at {self.timeline.now}"
        if before is None or not self.bridged:
            return
        for run in self.runs:
            waiting = self._standings[run.hub.run.name]
            if run is not changed and queueing.concerns(waiting, before=before, after=after):
                self._wake(run)

    def _wake(self, run: SimulatedRun) -> None:
        signal = partial(run.signal, QUEUE_MOVED, Recheck(reason="another run has changed"))
        self.timeline.after(BRIDGE, lambda: signal() if run.temporal.is_running else None)


def has_begun(run: SimulatedRun) -> bool:
    """Return whether a run has begun according to the hub."""
    return conditions.has(run.status.conditions, ConditionType.ADMITTED)
