"""State that all parts of one update run's workflow share, and the waits that depend on it."""

from datetime import datetime, timedelta
from typing import Any

from temporalio import workflow
from temporalio.workflow import ActivityHandle

with workflow.unsafe.imports_passed_through():
    from activities.requests import FollowBindings
    from api.reasons import ConditionType, RunReason
    from api.rollout_policies import OnAdded
    from api.runs import RunState, UpdateRunStatus
    from api.strategies import StrategySpec
    from planning import conditions
    from planning.identity import RunRef
    from planning.policies import budgets, queueing
    from planning.policies.reporting import Remembered, Undone
    from planning.runs import adopting, phases
    from planning.runs.adopting import Recalled
    from planning.runs.initialization import Targets
    from planning.runs.ledger import DELETION, Ledger, stage_of
    from planning.runs.phases import Phase
    from planning.runs.rules import RunRules
    from planning.runs.spec_news import Spec
    from planning.runs.steering import Steered
    from workflows import calls
    from workflows.approval_desk import ApprovalDesk
    from workflows.messages import Carried, TemporalApprovals, UpdateRunInput
    from workflows.state import (
        Budget,
        Intent,
        Membership,
        Notices,
        Position,
        Rechecks,
        Setbacks,
        Turn,
    )


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
        self.rules = carried.rules
        self.cluster_takes = carried.cluster_takes
        self.setbacks = Setbacks(carried.attempts, carried.setbacks, carried.to_apply)
        self.membership = Membership(carried.moves)
        self.position.at_once = carried.at_once
        self.budget = Budget(carried.accepted, carried.exceeded, paused=carried.paused)
        self.turn = Turn(carried.place, superseded_by=carried.superseded_by)
        self.decided = list(carried.decided)
        """UIDs of the decisions that were carried out or refused."""
        self.undone: Undone | None = None
        """The run that rolls this one back; None if none does."""
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
        self.trusts_temporal = start.temporal_approvals is TemporalApprovals.ACCEPT
        """Whether an approval or a decision made in Temporal alone counts."""

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
            rules=self.rules,
            cluster_takes=self.cluster_takes,
            attempts=self.setbacks.attempts,
            setbacks=self.setbacks.noted,
            to_apply=self.setbacks.to_apply,
            moves=self.membership.moves,
            at_once=self.position.at_once,
            accepted=self.budget.accepted,
            exceeded=self.budget.exceeded,
            paused=self.budget.paused,
            decided=self.decided,
            place=self.turn.place,
            superseded_by=self.turn.superseded_by if self.turn.superseded else None,
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
    def may_grow(self) -> bool:
        """Whether the current stage may take more clusters: a check has to tell, or a stop ends."""
        appends = self.rules.added is OnAdded.APPEND
        return appends and not (self.position.is_full or self.may_begin)

    def takes_joiners(self, stage: int) -> bool:
        """Return whether clusters can still be added to a stage: it has not ended."""
        if self.position.stage == DELETION or adopting.is_done(self.ledger.stage(stage)):
            return False
        is_current = stage == self.position.stage
        return stage > self.position.stage or (is_current and not self.position.is_full)

    @property
    def is_checked(self) -> bool:
        """Whether the guard checks the run: it runs, or it is stopping with clusters in flight."""
        return self.intent.may_run or bool(self.position.in_flight)

    @property
    def has_turn(self) -> bool:
        """Whether the run need not wait for other runs of its placement, or has begun."""
        return not queueing.has_to_ask(self.rules, self.ledger.status)

    def aim_at(self, targets: Targets, *, placement: str) -> None:
        """Set the placement that is rolled out, and its bindings."""
        self.placement, self.targets = placement, targets

    def keep_to(self, rules: RunRules, *, cluster_takes: timedelta | None) -> None:
        """Follow the rules of rollout policies; `cluster_takes` is as `Carried` has it."""
        self.rules, self.cluster_takes = rules, cluster_takes

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

    def learn(self, targets: Targets, *, has_grown: bool = False) -> None:
        """Record the clusters' current bindings: the scheduler may have replaced some.

        Bindings that are already deleted stay known for the rest of the deletion stage. `has_grown`
        says that clusters were added to the stages, which have to be followed too.
        """
        leaving = {**self.targets.leaving, **targets.leaving}
        known = self.targets.selected, self.targets.leaving
        if has_grown or known != (targets.selected, leaving):
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
        while not self.may_begin:
            await workflow.wait_condition(lambda: self.may_begin)

    @property
    def may_begin(self) -> bool:
        """Whether new work may start, if it is the run's turn."""
        return self._may_begin_again and not self.budget.halts

    @property
    def _may_begin_again(self) -> bool:
        held = self.renewing or self.turn.superseded
        return self.intent.may_run and self.rechecks.all_passed and not held

    async def until_turn(self) -> bool:
        """Wait until one more cluster may be handed out in the current workflow task.

        Return False instead once a failure budget does not allow it.
        """
        while not self.budget.halts:
            if not self.may_begin:
                await workflow.wait_condition(lambda: self.may_begin or self.budget.halts)
            elif self.pace.take():
                return True
            else:
                await self.pace.next_step()
        return False

    async def until_not_halted(self) -> None:
        """Wait until no failure budget keeps the run from starting more clusters."""
        await workflow.wait_condition(lambda: not self.budget.halts)

    async def until_retried(self) -> None:
        """Wait until a cluster may be handed out once more, which a failure budget allows."""
        while not self._may_begin_again:
            await workflow.wait_condition(lambda: self._may_begin_again)
        await self.pace.turn()

    async def until_turn_again(self) -> None:
        """Wait until a cluster in flight may be handed out again, which a stop does not prevent."""
        await self.until_certain()
        await self.pace.turn()

    def take_up_setbacks(self, recorded: UpdateRunStatus, remembered: Remembered) -> None:
        """Continue with what had become of clusters under a lost workflow.

        The run's status says whether it was paused; its report, which failures a person accepted.
        """
        paused, accepted = phases.phase(recorded) is Phase.PAUSED, remembered.accepted
        at_work = [self.position.stage]
        if paused:
            # After the last stage, clusters of any stage may have been handed out again.
            at_work += range(len(recorded.stages_status))
        found = (
            budgets.exceeded(self.rules, recorded, stage=each, accepted=accepted)
            for each in at_work
        )
        self.budget.recall(accepted, next(filter(None, found), None), paused=paused)

    def undo(self, undone: Undone) -> None:
        """Record that another run rolls this one back."""
        self.undone = undone

    def look_at_budget(self, stage: int) -> None:
        """Find out whether more clusters of a stage, or of the whole run, have failed than may."""
        accepted = self.budget.accepted
        self.budget.note(
            budgets.exceeded(self.rules, self.ledger.status, stage=stage, accepted=accepted)
        )

    def note_recovery(self) -> None:
        """Let failures that a person accepted, and that are none any more, count if they return."""
        if self.budget.accepted.in_run:
            self.budget.accept_at_most(budgets.failed_or_retried(self.ledger.status))

    def take_up_turn(self, recorded: UpdateRunStatus) -> None:
        """Continue to end if a newer run had replaced this one, whose name is lost already."""
        progressing = conditions.find(recorded.conditions, ConditionType.PROGRESSING)
        if progressing and progressing.reason == RunReason.SUPERSEDED:
            self.turn.supersede(by="")

    def go_on(self) -> None:
        """Accept the failures that there are, if a failure budget has paused the run."""
        if self.budget.may_be_accepted:
            self.budget.accept(budgets.failed(self.ledger.status))

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

    @property
    def is_certain(self) -> bool:
        """Whether every known change has been checked, or the run is stopped."""
        return self.rechecks.all_passed or not self.is_checked

    def is_away(self, cluster: str) -> bool:
        """Return whether a cluster has left and cannot be updated again, at least for now."""
        leaver = self.membership.away.get(cluster)
        return leaver is not None or cluster not in self.targets.selected

    async def until_certain(self) -> None:
        """Wait until every known change has been checked, or until the run is stopped."""
        await workflow.wait_condition(lambda: self.is_certain)

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
