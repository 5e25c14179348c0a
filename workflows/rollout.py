"""What all parts of one update run's workflow share, and the small questions they ask of it."""

from datetime import datetime, timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from api.runs import RunState, UpdateRunStatus
    from api.strategies import StrategySpec
    from planning.events import Event
    from planning.identity import RunRef
    from planning.runs.adopting import Recalled
    from planning.runs.initialization import Targets
    from planning.runs.ledger import Ledger
    from planning.runs.run_events import Situation
    from planning.runs.spec_news import Spec, SpecNews
    from planning.runs.steering import Steered
    from planning.runs.tasks import Side
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
        self.finished = False
        """Whether nothing can change any more."""
        self.gone = False
        """Whether the run object was found to exist no more."""
        self.halted = False
        """Whether a stop was noticed; set and cleared by the stop keeper alone."""
        self.stage: int = 0
        """Index of the stage at work."""
        self.waiting: Side | None = None
        """Side of the stage at work whose gates are open."""
        self.waiting_since: datetime = workflow.now()
        """When the gates after the stage at work opened; kept across a stop (decision 5)."""
        self.in_flight: dict[str, datetime] = {}
        """Clusters being updated or removed, with when they were started."""
        self.stuck: list[str] = []
        """Those of them that take too long, in the stage's order."""
        self.doubts = 1 if carried else 0
        """How often there was reason to look whether the run may still go on; an earlier
        execution may not have come to look."""
        self.dispelled = 0
        """Up to which of these doubts nothing was found wrong."""
        self.recalled: Recalled | None = None
        """Where an earlier workflow was, which Temporal does not know any more."""
        self.lost: list[str] = []
        """Clusters in flight whose bindings had no trace of it when they were last looked at."""
        self.approvals = ApprovalDesk()
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
        """Whether an earlier workflow had begun with a stage and not come to its end."""
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

    async def until_running(self) -> None:
        """Wait until new work may begin; the state may be any when the wait is over."""
        # Between the condition becoming true and this resuming, a stop may arrive: ask again.
        while not (self.may_go_on and self.certain):
            await workflow.wait_condition(lambda: self.may_go_on and self.certain)

    async def until_certain(self) -> None:
        """Wait until nothing is in doubt; while the run is stopped, nobody looks."""
        await workflow.wait_condition(lambda: self.certain or not self.is_checked)

    async def until_looked(self) -> None:
        """Have the guard look, and wait until nothing is wrong; it ends the run otherwise."""
        self.doubt()
        await self.until_certain()
