"""The objects on the hub that a run is about, and what people and controllers do to them.

Decisions of activities and bridge are the product's own, from `planning`: whether an approval
counts, whether facts are settled, which snapshots exist.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import jsonpatch

from activities.requests import AnswerDecision, DecisionMade
from api.applying import ApplyStrategy
from api.approvals import ApprovalRequestSpec, BaseApprovalRequest
from api.base import ObjectMeta
from api.reasons import ConditionType
from api.rollout_reports import RolloutReportStatus
from api.runs import RunState, UpdateRun, UpdateRunSpec, UpdateRunStatus
from api.strategies import Stage, StrategySpec
from planning import conditions
from planning.events import Event
from planning.identity import RunRef
from planning.overrides.matching import ClusterOverrides
from planning.policies.rolling_back import RollbackPlan
from planning.runs import phases
from planning.runs.facts import BindingFact, ClusterFact, HubFacts, PlacementFact, PolicyFact
from planning.runs.phases import Phase
from planning.runs.rules import RunRules

PLACEMENT = "web"
POLICY = "web-0"


class SimulatedHub:
    """A hub with all objects of one run."""

    def __init__(self, run: RunRef, stages: list[Stage], clusters: list[ClusterFact]) -> None:
        self.run = run
        self.spec = UpdateRunSpec(
            placement_name=PLACEMENT,
            resource_snapshot_index="1",
            staged_rollout_strategy_name="slow",
            state=RunState.RUN,
        )
        self.exists = True
        self.generation = 1
        self.version = 1
        """Resource version; it grows with each change of the run."""
        self.body: dict[str, Any] = {}
        """The run's status in wire format; empty before the run is planned."""
        self.phases: list[Phase] = []
        """The phases that a watcher of the run has seen, in order."""
        self.rules = RunRules()
        """What rollout policies say about the run."""
        self.cluster_takes: timedelta | None = None
        """How long a cluster took in earlier runs."""
        self.decisions: dict[str, DecisionMade] = {}
        """Decisions about the run, by name."""
        self.answers: dict[str, AnswerDecision] = {}
        """What became of decisions, by name."""
        self.reports: list[RolloutReportStatus] = []
        """The run's report, each time it was written."""
        self.had = {each.name: "0" for each in clusters}
        """Index of the snapshot that each cluster had before the run; empty if none."""
        self.before: dict[str, str] = {}
        """The same of those whose bindings note it, because the run has changed them."""
        self.rollbacks: dict[str, RollbackPlan] = {}
        """Runs that roll this one back, by name."""
        self.snapshots = ["1"]
        self.overrides: list[ClusterOverrides] = []
        """Overrides of the clusters, as they are now."""
        self.approvals: dict[str, BaseApprovalRequest] = {}
        self.events: list[Event] = []
        self.strategy: StrategySpec | None = StrategySpec(stages=stages)
        self.placement: PlacementFact | None = PlacementFact(
            strategy_type="External", apply_strategy=ApplyStrategy()
        )
        self.policy = PolicyFact(name=POLICY, index="0", scheduled=True)
        self.clusters = {each.name: each for each in clusters}
        self.bindings = {each.name: binding(each.name) for each in clusters}
        """Bindings by cluster."""
        self.done: set[str] = set()
        """Clusters whose bindings report that they have the content."""
        self.taken: set[str] = set()
        """Clusters that another run has taken."""

        self.created: datetime | None = None
        self.runs: Callable[[], list[UpdateRun]] = lambda: [self.object] if self.exists else []
        """Lists all runs of the placement."""
        self.changed: Callable[[], None] = lambda: None
        """Called after each change of the run."""

    # -- reading ---------------------------------------------------------------------------

    @property
    def object(self) -> UpdateRun:
        """The run."""
        metadata = ObjectMeta(
            name=self.run.name,
            namespace=self.run.namespace,
            uid=self.run.uid,
            generation=self.generation,
            creation_timestamp=self.created,
        )
        kind = self.run.scope.run
        return UpdateRun(
            api_version=kind.api_version,
            kind=kind.kind,
            metadata=metadata,
            spec=self.spec,
            status=self.status,
        )

    @property
    def status(self) -> UpdateRunStatus:
        """The run's status, as people read it."""
        return UpdateRunStatus.from_wire(self.body)

    @property
    def facts(self) -> HubFacts:
        """The facts that a survey finds."""
        return HubFacts(
            spec=self.spec,
            generation=self.generation,
            placement=self.placement,
            policies=[self.policy],
            bindings=sorted(self.bindings.values(), key=lambda each: each.name),
            strategy=self.strategy,
            clusters=sorted(self.clusters.values(), key=lambda each: each.name),
        )

    # -- what activities write -------------------------------------------------------------

    def patch_status(self, patch: list[dict[str, Any]]) -> None:
        """Apply a JSON patch to the run's status."""
        whole = jsonpatch.apply_patch({"status": self.body}, patch, in_place=True)
        self.body = whole["status"]
        self.version += 1
        head = {"conditions": self.body.get("conditions", [])}
        phase = phases.phase(UpdateRunStatus.from_wire(head))
        if self.phases[-1:] != [phase]:
            self.phases.append(phase)
        self.changed()

    def set_state(self, state: RunState) -> bool:
        """Write the desired state; return whether that changed anything."""
        if self.spec.state is state:
            return False
        self.spec = self.spec.model_copy(update={"state": state})
        self.generation += 1
        self.version += 1
        self.changed()
        return True

    def open_approval(self, name: str, stage: str) -> BaseApprovalRequest:
        """Create an approval request unless it exists, and return it."""
        if name not in self.approvals:
            self.approvals[name] = BaseApprovalRequest(
                api_version="",
                kind=self.run.scope.approval.kind,
                metadata=ObjectMeta(name=name, generation=1),
                spec=ApprovalRequestSpec(parent_stage_rollout=self.run.name, target_stage=stage),
            )
        return self.approvals[name]

    def begin_removal(self, cluster: str) -> None:
        """Mark a binding as being deleted, if it exists."""
        if found := self.bindings.get(cluster):
            self.bindings[cluster] = found.model_copy(update={"deleting": True})

    def finish(self, cluster: str) -> None:
        """Complete the update or removal of a cluster."""
        found = self.bindings.get(cluster)
        if found and found.deleting:
            del self.bindings[cluster]
        else:
            self.done.add(cluster)

    # -- what people do --------------------------------------------------------------------

    def approve(self, name: str, *, generation: int, now: datetime) -> None:
        """Approve as with kubectl."""
        approved = conditions.make(
            ConditionType.APPROVED, "True", "Approved", "lgtm", generation=generation, now=now
        )
        conditions.put(self.approvals[name].status.conditions, approved)

    def take_back_approval(self, name: str) -> None:
        """Remove the conditions of an approval request, and with them its approval."""
        self.approvals[name].status.conditions.clear()

    def wipe_status(self) -> None:
        """Remove everything from the run's status."""
        self.body = {}
        self.version += 1
        self.changed()


def binding(cluster: str, *, state: str = "Scheduled", policy: str = POLICY) -> BindingFact:
    """Return the binding of a cluster."""
    name = f"{PLACEMENT}-{cluster}"
    return BindingFact(name=name, cluster=cluster, policy_snapshot=policy, state=state)
