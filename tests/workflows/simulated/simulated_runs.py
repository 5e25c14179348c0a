"""One run in virtual time, as tests use it: a simulated hub, its bridge, and the workflow."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from activities.requests import DecisionMade
from api.base import Condition
from api.names import TASK_TYPE
from api.reasons import ConditionType
from api.rollout_decisions import Decision
from api.runs import RunState, StageStatus, UpdateRunStatus
from api.selectors import LabelSelector
from api.strategies import Stage
from planning import conditions
from planning.identity import RunRef
from planning.runs import approvals
from planning.runs.facts import ClusterFact
from planning.runs.gates import GateSide
from planning.runs.phases import Phase
from planning.runs.rules import RunRules
from tests.planning.run_samples import CLUSTER_RUN
from tests.workflows.simulated.histories import Limits
from tests.workflows.simulated.simulated_activities import SimulatedActivities
from tests.workflows.simulated.simulated_hub import SimulatedHub, binding
from tests.workflows.simulated.timeline import Timeline
from tests.workflows.simulated.virtual_temporal import LONG, Update, VirtualTemporal
from workflows.messages import (
    ApprovalLost,
    Approve,
    ChangeState,
    Decided,
    Recheck,
    RunOutcome,
    UpdateRunInput,
)
from workflows.plugin import fleetgate_plugin
from workflows.update_run import DELETED, UpdateRunWorkflow

BRIDGE: Final = timedelta(milliseconds=10)
"""Time from a change on the hub to the message about it."""
PLUGIN: Final = fleetgate_plugin()
_SIDES: Final = {"beforeStage": GateSide.BEFORE, "afterStage": GateSide.AFTER}
_SIGNALS: Final = {RunState.RUN: "resume", RunState.STOP: "pause"}


@dataclass(frozen=True)
class StageOf:
    """A stage with its clusters."""

    stage: Stage
    clusters: list[str]


def stage(name: str, *clusters: str, **fields: Any) -> StageOf:
    """Declare a stage with these clusters."""
    selector = LabelSelector(match_labels={"stage": name})
    return StageOf(Stage(name=name, label_selector=selector, **fields), list(clusters))


def many(count: int) -> list[str]:
    """Return the names of many clusters, in order."""
    return [f"member-{number:04}" for number in range(count)]


class SimulatedRun:
    """A run; clusters take `takes` seconds, or until the test reports them as done."""

    def __init__(
        self,
        *stages: StageOf,
        takes: float | Callable[[str], float] | None = None,
        leaving: tuple[str, ...] = (),
        state: RunState = RunState.RUN,
        ref: RunRef = CLUSTER_RUN,
        limits: Limits | None = None,
        sandboxed: bool = False,
        rules: RunRules | None = None,
        without: tuple[str, ...] = (),
        timeline: Timeline | None = None,
        others: dict[str, VirtualTemporal] | None = None,
        cluster_takes: timedelta | None = None,
        **fields: Any,
    ) -> None:
        """Begin a run.

        `leaving` are clusters to be removed, `without` names stages that the strategy lacks,
        `others` are workflows that this one may signal, `cluster_takes` is how long a cluster took
        in earlier runs; `fields` are passed to the workflow's input.
        """
        self.timeline = timeline or Timeline()
        facts = [
            ClusterFact(name=name, labels={"stage": each.stage.name})
            for each in stages
            for name in each.clusters
        ]
        declared = [each.stage for each in stages if each.stage.name not in without]
        self.hub = SimulatedHub(ref, declared, facts)
        self.hub.bindings |= {name: binding(name, state="Unscheduled") for name in leaving}
        self.hub.spec = self.hub.spec.model_copy(update={"state": state})
        self.hub.rules = rules or RunRules()
        self.hub.created = self.timeline.now
        self.hub.cluster_takes = cluster_takes
        self.activities = SimulatedActivities(self.hub, self.timeline, steered=self._steered)
        self._takes = takes
        self.activities.begun = self._begun
        self.temporal = VirtualTemporal(
            UpdateRunWorkflow,
            UpdateRunInput(run=ref, **fields),
            workflow_id=ref.workflow_id,
            activities=self.activities,
            plugin=PLUGIN,
            timeline=self.timeline,
            limits=limits,
            sandboxed=sandboxed,
            others=others,
        )

    # -- reading ---------------------------------------------------------------------------

    @property
    def status(self) -> UpdateRunStatus:
        """The run's status, as people read it."""
        return self.hub.status

    def stage(self, index: int = 0) -> StageStatus:
        """Return a stage of the status."""
        return self.status.stages_status[index]

    @property
    def progressing(self) -> Condition:
        """The run's condition Progressing."""
        found = conditions.find(self.status.conditions, ConditionType.PROGRESSING)
        assert found is not None, "the run has not started"
        return found

    @property
    def succeeded(self) -> Condition:
        """The run's condition Succeeded."""
        found = conditions.find(self.status.conditions, ConditionType.SUCCEEDED)
        assert found is not None, "the run is not over"
        return found

    @property
    def phase(self) -> Phase | None:
        """The run's phase according to its status; None before it is planned."""
        return self.hub.phases[-1] if self.hub.phases else None

    @property
    def updated(self) -> list[str]:
        """The clusters that are updated according to the status."""
        return [
            each.cluster_name
            for stage in self.status.stages_status
            for each in stage.clusters
            if conditions.has(each.conditions, ConditionType.SUCCEEDED)
        ]

    @property
    def told(self) -> list[str]:
        """The reasons of the run's Kubernetes events."""
        return [event.reason for event in self.hub.events]

    # -- time ------------------------------------------------------------------------------

    def until(self, happened: Callable[[], bool], what: str, *, within: timedelta = LONG) -> None:
        """Let time pass until something has happened."""
        what = f"{what}; the run went through {', '.join(self.hub.phases)}"
        self.temporal.until(happened, what, within=within)

    def until_phase(self, phase: Phase, *, within: timedelta = LONG) -> None:
        """Let time pass until the run is in a phase."""
        self.until(lambda: self.phase is phase, f"the run is {phase}", within=within)

    def until_asked(self, request: str) -> None:
        """Let time pass until an approval request exists and the status shows it."""
        self.until(lambda: request in self.hub.approvals, f"{request} exists")
        self.wait(1)

    def until_handed_out(self, *clusters: str) -> None:
        """Let time pass until clusters have been handed out."""
        wanted = set(clusters)
        self.until(lambda: wanted <= set(self.activities.handed_out), f"{clusters} are handed out")

    def wait(self, seconds: float) -> None:
        """Let some time pass."""
        self.timeline.wait(timedelta(seconds=seconds))

    def outcome(self) -> RunOutcome:
        """Run the workflow to its end, and return its outcome."""
        return self.temporal.result(RunOutcome)

    # -- members ---------------------------------------------------------------------------

    def report(self, *clusters: str) -> None:
        """Report clusters as done."""
        for cluster in clusters:
            self.hub.finish(cluster)
            self.activities.notice(cluster)

    def _begun(self, cluster: str) -> None:
        if self._takes is None or cluster in self.hub.done:
            return
        takes = self._takes(cluster) if callable(self._takes) else self._takes
        self.timeline.after(timedelta(seconds=takes), lambda: self._finish(cluster))

    def _finish(self, cluster: str) -> None:
        if cluster not in self.hub.taken:
            self.report(cluster)

    def take(self, *clusters: str) -> None:
        """Have another run take clusters."""
        for cluster in clusters:
            self.hub.taken.add(cluster)
            self.activities.notice(cluster)

    # -- Temporal --------------------------------------------------------------------------

    def lose_temporal(self, *, away: float = 5) -> None:
        """Lose Temporal's database; the bridge starts the workflow again after these seconds."""
        self.activities.forget()
        self.temporal.lose_database(away=timedelta(seconds=away))

    # -- people, on the hub ----------------------------------------------------------------

    def set_state(self, state: RunState) -> None:
        """Stop or resume the run as with kubectl."""
        if self.hub.set_state(state):
            self._steered()

    def stop(self) -> None:
        """Stop the run as with kubectl."""
        self.set_state(RunState.STOP)

    def resume(self) -> None:
        """Resume the run as with kubectl."""
        self.set_state(RunState.RUN)

    def approve(self, request: str, *, generation: int = 1) -> None:
        """Approve as with kubectl."""
        self.hub.approve(request, generation=generation, now=self.timeline.now)
        self._later(lambda: self._tell_of_approval(request))

    def delete_approval(self, request: str) -> None:
        """Delete an approval request."""
        gone = self.hub.approvals.pop(request)
        side = _SIDES[f"{request.removeprefix(self.hub.run.name + '-').split('-')[0]}Stage"]
        message = ApprovalLost(stage=gone.spec.target_stage, side=side)
        self._later(lambda: self.signal("approval_lost", message))

    def decide(self, decision: Decision, cluster: str = "", *, reason: str = "INC-7") -> str:
        """Create a decision as with kubectl; return its name."""
        name = f"{self.hub.run.name}-{len(self.hub.answers) + 1}"
        self.hub.decisions[name] = DecisionMade(
            decision=decision, cluster=cluster, reason=reason, by="jane"
        )
        message = Decided(name=name, uid=f"uid-{name}")
        self._later(lambda: self.signal("decided", message))
        self.until(lambda: name in self.hub.answers, f"{name} is answered")
        return name

    def edit_status(self) -> None:
        """Remove everything from the run's status, as with kubectl."""
        self.hub.wipe_status()
        self._later(lambda: self.signal("recheck", Recheck(reason="the status was edited")))
        self._later(lambda: self.signal("restore", Recheck(reason="the status was edited")))

    def changed(self, reason: str = "something has changed") -> None:
        """Have the bridge signal that something that the run depends on has changed."""
        self._later(lambda: self.signal("recheck", Recheck(reason=reason)))

    def delete(self) -> None:
        """Delete the run."""
        self.hub.exists = False
        self.hub.changed()
        self._later(lambda: self.temporal.cancel(DELETED))

    # -- people, in Temporal ---------------------------------------------------------------

    def signal(self, name: str, *arguments: object) -> None:
        """Send a signal."""
        self.temporal.signal(name, *arguments)

    def update(self, name: str, *arguments: object) -> Update:
        """Send an update and wait for its final answer."""
        return self.temporal.update(name, *arguments)

    # -- the bridge ------------------------------------------------------------------------

    def _later(self, deed: Callable[[], None]) -> None:
        self.timeline.after(BRIDGE, deed)

    def _steered(self) -> None:
        name = _SIGNALS[self.hub.spec.state]
        message = ChangeState(generation=self.hub.generation)
        self._later(lambda: self.signal(name, message))

    def _tell_of_approval(self, name: str) -> None:
        """Signal an approval only if it counts, as the bridge does."""
        found = self.hub.approvals.get(name)
        if found is None or approvals.accepted(found) or not approvals.approved(found):
            return
        side = _SIDES.get(found.metadata.labels.get(TASK_TYPE, ""))
        message = Approve(stage=found.spec.target_stage, side=side, on_object=True)
        self.signal("approve", message)
