"""What all parts of one update run's workflow share, and the small questions they ask of it."""

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
    from planning.runs.initialization import Targets
    from planning.runs.ledger import Ledger, stage_of
    from planning.runs.run_events import Situation
    from planning.runs.spec_news import Spec, SpecNews
    from planning.runs.steering import Steered
    from planning.runs.tasks import Side
    from workflows import calls
    from workflows.approval_desk import ApprovalDesk
    from workflows.messages import Carried, TemporalApprovals, UpdateRunInput


class Rollout:
    """The state of a run in memory. Only what `carried` returns outlives one execution."""

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
        """Who wants the run to be so, and why."""
        self.specs = SpecNews(Spec(self.ledger.generation, self.desired))
        """What the hub's spec says, as far as is known."""
        self.targets = carried.targets if carried else Targets()
        self.placement: str = carried.placement if carried else ""
        self.resource_version: str = carried.resource_version if carried else ""
        self.planned = carried is not None
        """Whether the plan is made."""
        self.renewing = False
        """Whether the next execution is to go on: nothing new begins in this one, and what ends is
        for that one to hear of."""
        self.finished = False
        """Whether nothing can change any more."""
        self.gone = False
        """Whether the run object was found to exist no more."""
        self.halted = False
        """Whether a stop was noticed; set and cleared by the stop keeper alone."""
        self.recalled: Recalled | None = _recalled(carried) if carried else None
        """Where an earlier workflow or execution was, whose activities are lost."""
        self.stage: int = self.recalled.stage if self.recalled else 0
        """Index of the stage at work."""
        self.waiting: Side | None = None
        """Side of the stage at work whose gates are open."""
        self.waiting_since: datetime = workflow.now()
        """When the gates after the stage at work opened; kept across a stop (decision 5)."""
        self.in_flight: dict[str, datetime] = dict(self.recalled.in_flight if self.recalled else {})
        """Clusters being updated or removed, with when they were started."""
        self.stuck: list[str] = []
        """Those of them that take too long, in the stage's order."""
        self.doubts = 1 if carried else 0
        """How often there was reason to look whether the run may still go on; an earlier
        execution may not have come to look."""
        self.dispelled = 0
        """Up to which of these doubts nothing was found wrong."""
        self.looked: str = carried.looked if carried else ""
        """Digest of the facts that were found right when nothing was in flight, until something
        is."""
        self.lost: list[str] = []
        """Clusters in flight whose bindings had no trace of it when they were last looked at."""
        self.pace = calls.Pace()
        self._followers: list[ActivityHandle[Any]] = []
        self.approvals = ApprovalDesk(carried.approvals if carried else [])
        self.takes_approvals = start.temporal_approvals is TemporalApprovals.ACCEPT
        """Whether an approval counts that was given in Temporal alone."""
        self.before: Situation | None = None
        """What an earlier workflow has told people of already."""
        self.told: list[Event] = []
        """What people should read of the run besides what its status says."""

    def carried(self) -> Carried:
        """What the next execution of the same workflow goes on from."""
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
        """What lines of the log about the run are found by."""
        stage = self.ledger.stage(self.stage).stage_name if self.planned else ""
        return self.run.log_fields | {"stage": stage}

    @property
    def strategy(self) -> StrategySpec:
        """The stages, as copied when the plan was made."""
        copied = self.ledger.status.staged_update_strategy_snapshot
        assert copied is not None, "a planned run has its strategy"
        return copied

    @property
    def snapshot(self) -> str:
        """Name of the resource snapshot that is rolled out; empty before the plan."""
        index = self.ledger.status.resource_snapshot_index_used
        return f"{self.placement}-{index}-snapshot" if index else ""

    def resumes(self, stage: int) -> bool:
        """Whether it was begun with before, by a workflow or an execution that is over."""
        recalled = self.recalled
        return recalled is not None and recalled.begun and recalled.stage == stage

    @property
    def may_go_on(self) -> bool:
        """Whether the run is to run, and any stop is over."""
        return self.desired is RunState.RUN and not self.halted

    @property
    def is_checked(self) -> bool:
        """Whether what it depends on may end it: it runs, or has yet to come to its stop."""
        return self.may_go_on or bool(self.in_flight)

    @property
    def certain(self) -> bool:
        """Whether nothing has changed that was not looked at yet."""
        return self.doubts == self.dispelled

    def doubt(self) -> None:
        """Have the guard look whether the run may still go on."""
        self.doubts += 1

    def learn(self, targets: Targets) -> None:
        """Take the bindings of the clusters by now: the scheduler may have replaced some.

        Those that are deleted already stay known, for the rest of the deletion stage.
        """
        leaving = {**self.targets.leaving, **targets.leaving}
        if (targets.selected, leaving) != (self.targets.selected, self.targets.leaving):
            self.targets = Targets(selected=targets.selected, leaving=leaving)

    def hear(self, spec: Spec) -> None:
        """Take what somebody says of the run's spec, unless it is old."""
        if self.specs.tell(spec):
            self._follow(spec)

    def compare_specs(self, generation: int, *, count: int) -> None:
        """Take back what cannot be, now that the hub has told its generation.

        With how much was known of the spec when the hub was asked.
        """
        before = self.specs.latest
        self.specs.compare(generation, count=count)
        if self.specs.latest != before:
            self._follow(self.specs.latest)

    def _follow(self, spec: Spec) -> None:
        # Before the plan is made there is no status that could speak of a generation.
        if self.planned:
            self.ledger.observe(spec.generation)
        else:
            self.ledger.generation = spec.generation
        self.ask(spec.state, spec.asked)

    def ask(self, state: RunState, asked: Steered | None = None) -> None:
        """Take the state that the run shall be in; while it did not run, nobody looked.

        A run whose end is marked stays as it is.
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
        """Wait until no follower is at work any more, all having been cancelled."""
        await workflow.wait_condition(lambda: all(each.done() for each in self._followers))

    async def until_running(self) -> None:
        """Wait until new work may begin."""
        # Between the condition becoming true and this resuming, a stop may arrive: ask again.
        while not self._may_begin:
            await workflow.wait_condition(lambda: self._may_begin)

    @property
    def _may_begin(self) -> bool:
        return self.may_go_on and self.certain and not self.renewing

    async def until_turn(self) -> None:
        """Wait until one more cluster may be handed out in this step."""
        await self.until_running()
        while not self.pace.take():
            await self.pace.next_step()
            await self.until_running()

    async def until_turn_again(self) -> None:
        """Wait until a cluster may be handed out that was before; a stop waits for it."""
        await self.until_certain()
        await self.pace.turn()

    def begin(self, cluster: str, now: datetime) -> None:
        """Note that a cluster is being updated or removed."""
        self.in_flight.setdefault(cluster, now)
        self.looked = ""

    async def end(self, cluster: str) -> None:
        """Note that it is not any more; where another execution is to go on, that one asks anew."""
        await workflow.wait_condition(lambda: not self.renewing)
        del self.in_flight[cluster]

    async def until_certain(self) -> None:
        """Wait until nothing is in doubt; while the run is stopped, nobody looks."""
        await workflow.wait_condition(lambda: self.certain or not self.is_checked)

    async def until_looked(self) -> None:
        """Have the guard look, and wait until nothing is wrong; it ends the run otherwise."""
        self.doubt()
        await self.until_certain()


def _recalled(carried: Carried) -> Recalled:
    return Recalled(
        stage=carried.stage,
        waiting=carried.waiting,
        waiting_since=carried.waiting_since,
        # By the status, in which they are anyway: all that is carried is one message to Temporal.
        in_flight=adopting.in_flight(stage_of(carried.status, carried.stage)),
        desired=carried.desired,
    )
