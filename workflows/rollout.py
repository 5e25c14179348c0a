"""State that all parts of one update run's workflow share, and the waits that depend on it."""

from datetime import datetime, timedelta
from typing import Any

from temporalio import workflow
from temporalio.workflow import ActivityHandle

with workflow.unsafe.imports_passed_through():
    from activities.requests import FollowBindings
    from api.runs import RunState
    from api.strategies import StrategySpec
    from planning.identity import RunRef
    from planning.runs import phases
    from planning.runs.adopting import Recalled
    from planning.runs.initialization import Targets
    from planning.runs.ledger import Ledger, stage_of
    from planning.runs.spec_news import Spec
    from planning.runs.steering import Steered
    from workflows import calls
    from workflows.approval_desk import ApprovalDesk
    from workflows.messages import Carried, TemporalApprovals, UpdateRunInput
    from workflows.state import Intent, Notices, Position, Rechecks


class Rollout:
    """State of a run in memory. Only what `carried` returns outlives one execution."""

    def __init__(self, start: UpdateRunInput) -> None:
        carried = start.carried or Carried()
        self.run: RunRef = start.run
        self.stuck_after: timedelta = start.stuck_after
        self.planned = start.carried is not None
        """Whether the run has been planned."""
        self.ledger = Ledger(carried.status, generation=carried.generation)
        self.intent = Intent(carried.desired, carried.asked, generation=carried.generation)
        self.position = Position(_recalled(carried) if self.planned else None, now=workflow.now())
        # The earlier execution may not have got to its last recheck.
        self.rechecks = Rechecks(requested=int(self.planned), digest=carried.looked)
        self.notices = Notices()
        self.targets = carried.targets
        self.placement: str = carried.placement
        self.resource_version: str = carried.resource_version
        self.renewing = False
        """Whether the workflow is about to continue as new: this execution starts nothing more, and
        clusters that end are left for the next execution to handle."""
        self.finished = False
        """Whether the run has ended, so that nothing can change."""
        self.gone = False
        """Whether the run object was found to be deleted."""
        self.pace = calls.HandOutPace()
        self._followers: list[ActivityHandle[Any]] = []
        self.approvals = ApprovalDesk(carried.approvals)
        self.takes_approvals = start.temporal_approvals is TemporalApprovals.ACCEPT
        """Whether an approval given in Temporal alone counts."""

    def carried(self) -> Carried:
        """Return the state from which the next execution of the same workflow continues."""
        return Carried(
            status=self.ledger.status,
            generation=self.ledger.generation,
            desired=self.intent.state,
            targets=self.targets,
            placement=self.placement,
            resource_version=self.resource_version,
            asked=self.intent.asked,
            stage=self.position.stage,
            waiting=self.position.open_side,
            waiting_since=self.position.opened_at if self.position.open_side else None,
            approvals=self.approvals.carried,
            looked=self.rechecks.digest,
        )

    @property
    def log_fields(self) -> dict[str, str]:
        """The fields that identify the run in log lines."""
        stage = self.ledger.stage(self.position.stage).stage_name if self.planned else ""
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

    @property
    def is_checked(self) -> bool:
        """Whether the guard checks the run: it runs, or it is stopping with clusters in flight."""
        return self.intent.may_run or bool(self.position.in_flight)

    def aim_at(self, targets: Targets, *, placement: str) -> None:
        """Set the placement that is rolled out, and its bindings."""
        self.placement, self.targets = placement, targets

    def take_up_plan(self) -> None:
        """Record that the run has its plan, so that it can be carried out."""
        self.planned = True

    def lose_run(self) -> None:
        """Record that the run's object no longer exists."""
        self.gone = True

    def note_written(self, resource_version: str, *, gone: bool) -> None:
        """Record which version of the run's object a write has left, and whether it exists."""
        self.resource_version, self.gone = resource_version, gone

    def renew(self) -> None:
        """Start nothing more: the workflow is about to continue as new."""
        self.renewing = True

    def finish(self) -> None:
        """Record that the run has ended, so that nothing can change."""
        self.finished = True

    def learn(self, targets: Targets) -> None:
        """Record the clusters' current bindings: the scheduler may have replaced some.

        Bindings that are already deleted stay known for the rest of the deletion stage.
        """
        leaving = {**self.targets.leaving, **targets.leaving}
        if (targets.selected, leaving) != (self.targets.selected, self.targets.leaving):
            self.targets = Targets(selected=targets.selected, leaving=leaving)

    def hear(self, spec: Spec) -> None:
        """Apply a reported version of the run's spec, unless it is out of date."""
        if self.intent.specs.note(spec):
            self._follow(spec)

    def compare_specs(self, generation: int, *, count: int) -> None:
        """Drop reported specs that the hub's generation proves wrong.

        `count` is the number of reports received when the hub was asked.
        """
        before = self.intent.specs.latest
        self.intent.specs.compare(generation, count=count)
        if self.intent.specs.latest != before:
            self._follow(self.intent.specs.latest)

    def _follow(self, spec: Spec) -> None:
        # Before the run is planned, its status has no conditions with an observedGeneration.
        if self.planned:
            self.ledger.observe(spec.generation)
        else:
            self.ledger.begin_at(spec.generation)
        self.ask(spec.state, spec.asked)

    def ask(self, state: RunState, asked: Steered | None = None) -> None:
        """Set the desired state; request a recheck when it becomes Run.

        The guard does not check a stopped run. A run whose end is recorded stays as it is.
        """
        if self.ledger.closed:
            return
        if state is RunState.RUN and self.intent.state is not state:
            self.rechecks.request()
        self.intent.want(state, asked)

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
        return self.intent.may_run and self.rechecks.all_passed and not self.renewing

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
        self.position.begin(cluster, now)
        self.rechecks.forget_facts()

    async def end(self, cluster: str) -> None:
        """Record that a cluster has ended; before continue-as-new, wait instead.

        The next execution hands the cluster out again.
        """
        await workflow.wait_condition(lambda: not self.renewing)
        self.position.end(cluster)

    async def until_certain(self) -> None:
        """Wait until every known change has been checked, or until the run is stopped."""
        await workflow.wait_condition(lambda: self.rechecks.all_passed or not self.is_checked)

    async def until_looked(self) -> None:
        """Have the guard check the run, and wait until it finds nothing wrong.

        If something is wrong, the guard ends the run.
        """
        self.rechecks.request()
        await self.until_certain()


def _recalled(carried: Carried) -> Recalled:
    return Recalled(
        stage=carried.stage,
        waiting=carried.waiting,
        waiting_since=carried.waiting_since,
        # Read from the status, which is carried anyway: the carried state has to fit one payload.
        in_flight=phases.in_flight(stage_of(carried.status, carried.stage)),
        desired=carried.desired,
    )
