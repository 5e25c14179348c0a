"""State that all parts of one update run's workflow share, and the waits that depend on it."""

from datetime import datetime, timedelta
from typing import Any

from temporalio import workflow
from temporalio.workflow import ActivityHandle

with workflow.unsafe.imports_passed_through():
    from activities.requests import FollowBindings
    from api.runs import RunState, UpdateRunStatus
    from api.strategies import StrategySpec
    from planning.events import Event
    from planning.identity import RunRef
    from planning.runs import adopting
    from planning.runs.adopting import Recalled
    from planning.runs.gates import Side
    from planning.runs.initialization import Targets
    from planning.runs.ledger import Ledger, stage_of
    from planning.runs.run_events import Situation
    from planning.runs.spec_news import Spec, SpecNews
    from planning.runs.steering import Steered
    from workflows import calls
    from workflows.approval_desk import ApprovalDesk
    from workflows.messages import Carried, TemporalApprovals, UpdateRunInput


class Rollout:
    """State of a run in memory. Only what `carried` returns outlives one execution."""

    def __init__(self, start: UpdateRunInput) -> None:
        carried = start.carried
        self.run: RunRef = start.run
        self.stuck_after: timedelta = start.stuck_after
        self.ledger = Ledger(
            carried.status if carried else UpdateRunStatus(),
            generation=carried.generation if carried else 0,
        )
        self.desired: RunState = carried.desired if carried else RunState.INITIALIZE
        self.asked = carried.asked if carried else Steered()
        """Who asked for the desired state, and why."""
        self.specs = SpecNews(Spec(self.ledger.generation, self.desired))
        """The run's spec on the hub, as far as is known."""
        self.targets = carried.targets if carried else Targets()
        self.placement: str = carried.placement if carried else ""
        self.resource_version: str = carried.resource_version if carried else ""
        self.planned = carried is not None
        """Whether the run has been planned."""
        self.renewing = False
        """Whether the workflow is about to continue as new: this execution starts nothing more, and
        clusters that end are left for the next execution to handle."""
        self.finished = False
        """Whether the run has ended, so that nothing can change."""
        self.gone = False
        """Whether the run object was found to be deleted."""
        self.halted = False
        """Whether a stop was noticed; set and cleared only by `DesiredState.keep_stops`."""
        self.recalled: Recalled | None = _recalled(carried) if carried else None
        """Where an earlier workflow or execution was, whose activities are lost."""
        self.stage: int = self.recalled.stage if self.recalled else 0
        """Index of the current stage."""
        self.waiting: Side | None = None
        """Side of the current stage whose gates are open."""
        self.waiting_since: datetime = workflow.now()
        """When the gates of the current stage opened; kept across a stop (contract decision 5)."""
        self.in_flight: dict[str, datetime] = dict(self.recalled.in_flight if self.recalled else {})
        """Clusters being updated or removed, each with its start time."""
        self.stuck: list[str] = []
        """Clusters in flight that take too long, in the stage's order."""
        self.doubts = 1 if carried else 0
        """Number of rechecks requested so far; starts at 1 after continue-as-new, because the
        earlier execution may not have got to its last one."""
        self.dispelled = 0
        """Number of the latest requested recheck that found nothing wrong."""
        self.looked: str = carried.looked if carried else ""
        """Digest of the facts that passed the last check with nothing in flight; cleared when a
        cluster starts."""
        self.lost: list[str] = []
        """Clusters in flight whose bindings showed no trace of the update at the last check."""
        self.pace = calls.Pace()
        self._followers: list[ActivityHandle[Any]] = []
        self.approvals = ApprovalDesk(carried.approvals if carried else [])
        self.takes_approvals = start.temporal_approvals is TemporalApprovals.ACCEPT
        """Whether an approval given in Temporal alone counts."""
        self.before: Situation | None = None
        """The situation that an earlier workflow has already reported in events."""
        self.told: list[Event] = []
        """Events to record besides those that follow from the status."""

    def carried(self) -> Carried:
        """Return the state from which the next execution of the same workflow continues."""
        return Carried(
            status=self.ledger.status,
            generation=self.ledger.generation,
            desired=self.desired,
            targets=self.targets,
            placement=self.placement,
            resource_version=self.resource_version,
            asked=self.asked,
            stage=self.stage,
            waiting=self.waiting,
            waiting_since=self.waiting_since if self.waiting else None,
            approvals=self.approvals.carried,
            looked=self.looked,
        )

    @property
    def log_fields(self) -> dict[str, str]:
        """The fields that identify the run in log lines."""
        stage = self.ledger.stage(self.stage).stage_name if self.planned else ""
        return self.run.log_fields | {"stage": stage}

    @property
    def strategy(self) -> StrategySpec:
        """The strategy, as copied when the run was planned."""
        copied = self.ledger.status.staged_update_strategy_snapshot
        assert copied is not None, "a planned run has a copy of its strategy"
        return copied

    @property
    def snapshot(self) -> str:
        """Name of the resource snapshot being rolled out; empty before the run is planned."""
        index = self.ledger.status.resource_snapshot_index_used
        return f"{self.placement}-{index}-snapshot" if index else ""

    def resumes(self, stage: int) -> bool:
        """Return whether an earlier workflow or execution had already started this stage."""
        recalled = self.recalled
        return recalled is not None and recalled.begun and recalled.stage == stage

    @property
    def may_go_on(self) -> bool:
        """Whether the desired state is Run and no stop is in effect."""
        return self.desired is RunState.RUN and not self.halted

    @property
    def is_checked(self) -> bool:
        """Whether the guard checks the run: it runs, or it is stopping with clusters in flight."""
        return self.may_go_on or bool(self.in_flight)

    @property
    def certain(self) -> bool:
        """True when every known change has been checked."""
        return self.doubts == self.dispelled

    def doubt(self) -> None:
        """Have the guard check whether the run may still continue."""
        self.doubts += 1

    def learn(self, targets: Targets) -> None:
        """Record the clusters' current bindings: the scheduler may have replaced some.

        Bindings that are already deleted stay known for the rest of the deletion stage.
        """
        leaving = {**self.targets.leaving, **targets.leaving}
        if (targets.selected, leaving) != (self.targets.selected, self.targets.leaving):
            self.targets = Targets(selected=targets.selected, leaving=leaving)

    def hear(self, spec: Spec) -> None:
        """Apply a reported version of the run's spec, unless it is out of date."""
        if self.specs.tell(spec):
            self._follow(spec)

    def compare_specs(self, generation: int, *, count: int) -> None:
        """Drop reported specs that the hub's generation proves wrong.

        `count` is the number of reports received when the hub was asked.
        """
        before = self.specs.latest
        self.specs.compare(generation, count=count)
        if self.specs.latest != before:
            self._follow(self.specs.latest)

    def _follow(self, spec: Spec) -> None:
        # Before the run is planned, its status has no conditions with an observedGeneration.
        if self.planned:
            self.ledger.observe(spec.generation)
        else:
            self.ledger.generation = spec.generation
        self.ask(spec.state, spec.asked)

    def ask(self, state: RunState, asked: Steered | None = None) -> None:
        """Set the desired state; request a recheck when it becomes Run.

        The guard does not check a stopped run. A run whose end is recorded stays as it is.
        """
        if self.ledger.closed:
            return
        if state is RunState.RUN and self.desired is not state:
            self.doubt()
        self.desired = state
        self.asked = asked or self.asked

    def follow(self, request: FollowBindings, *, summary: str) -> ActivityHandle[Any]:
        """Start following bindings; cancel the handle to end it."""
        handle = calls.follower(request, summary=summary)
        self._followers = [each for each in self._followers if not each.done()] + [handle]
        return handle

    async def until_unfollowed(self) -> None:
        """Wait until all followers, which must have been cancelled, have ended."""
        await workflow.wait_condition(lambda: all(each.done() for each in self._followers))

    async def until_running(self) -> None:
        """Wait until new work may start."""
        # A stop may arrive after the condition becomes true and before this resumes, so check
        # again.
        while not self._may_begin:
            await workflow.wait_condition(lambda: self._may_begin)

    @property
    def _may_begin(self) -> bool:
        return self.may_go_on and self.certain and not self.renewing

    async def until_turn(self) -> None:
        """Wait until one more cluster may be handed out in the current workflow task."""
        await self.until_running()
        while not self.pace.take():
            await self.pace.next_step()
            await self.until_running()

    async def until_turn_again(self) -> None:
        """Wait until a cluster in flight may be handed out again, which a stop does not prevent."""
        await self.until_certain()
        await self.pace.turn()

    def begin(self, cluster: str, now: datetime) -> None:
        """Record that a cluster is being updated or removed."""
        self.in_flight.setdefault(cluster, now)
        self.looked = ""

    async def end(self, cluster: str) -> None:
        """Record that a cluster has ended; before continue-as-new, wait instead.

        The next execution hands the cluster out again.
        """
        await workflow.wait_condition(lambda: not self.renewing)
        del self.in_flight[cluster]

    async def until_certain(self) -> None:
        """Wait until every known change has been checked, or until the run is stopped."""
        await workflow.wait_condition(lambda: self.certain or not self.is_checked)

    async def until_looked(self) -> None:
        """Have the guard check the run, and wait until it finds nothing wrong.

        If something is wrong, the guard ends the run.
        """
        self.doubt()
        await self.until_certain()


def _recalled(carried: Carried) -> Recalled:
    return Recalled(
        stage=carried.stage,
        waiting=carried.waiting,
        waiting_since=carried.waiting_since,
        # Read from the status, which is carried anyway: the carried state has to fit one payload.
        in_flight=adopting.in_flight(stage_of(carried.status, carried.stage)),
        desired=carried.desired,
    )
