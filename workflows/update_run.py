"""The workflow of one update run, from its plan to its end.

Reading order: init, messages, main flow, ending. Stages, gates, stop and resume, the status mirror
and the guard each have their own module; they all share one `Rollout`.
"""

import asyncio
from typing import Any, Final

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import RecordApproval
    from api.reasons import ConditionType, RunReason
    from api.runs import RunState
    from planning import conditions, errors, failures
    from planning.errors import RunError, StageAborted
    from planning.policies import texts
    from planning.runs import adopting, lifecycle, marks
    from planning.runs.gates import GateSide, PendingApproval
    from planning.runs.ledger import DELETION
    from workflows import builds, calls
    from workflows.approval_desk import Ticket
    from workflows.chronicle import Chronicle
    from workflows.decisions import Decisions
    from workflows.deletion import DeletionRun
    from workflows.desired_state import DesiredState
    from workflows.display import Display
    from workflows.guard import Guard
    from workflows.messages import (
        QUEUE_MOVED,
        SUPERSEDE,
        WORKFLOW,
        Answer,
        ApprovalLost,
        Approve,
        ChangeState,
        Decide,
        Decided,
        Forecast,
        Recheck,
        RunOutcome,
        Superseded,
        UpdateRunInput,
    )
    from workflows.mirror import StatusMirror
    from workflows.planning_phase import initialize
    from workflows.queueing import Queue
    from workflows.report import ReportWriter
    from workflows.rollout import Rollout
    from workflows.stages import StageRun

DELETED = "the run was deleted on the hub"
"""Reason with which the bridge cancels the workflow of a deleted run."""
LEAST_EVENTS: Final = 1_000
"""Minimum number of events in an execution, besides those for handing clusters out again, before it
continues as new, even if Temporal suggests it earlier: each execution begins with a check of the
hub."""
NOT_IN_TEMPORAL = (
    "{what} in Temporal alone are refused, because Temporal does not know the hub's users; "
    "use the command `fleetgate` or kubectl"
)
"""Refusal for installations that do not accept what people decide in Temporal alone."""


@workflow.defn(name=WORKFLOW)
class UpdateRunWorkflow:
    """Rolls one snapshot out to the clusters of a placement, stage by stage."""

    @workflow.init
    def __init__(self, start: UpdateRunInput) -> None:
        self._rollout = Rollout(start)
        self._desired = DesiredState(self._rollout)
        self._guard = Guard(self._rollout)
        self._mirror = StatusMirror(self._rollout)
        self._queue = Queue(self._rollout, self._mirror)
        self._chronicle = Chronicle(self._rollout)
        self._decisions = Decisions(self._rollout)
        self._report = ReportWriter(self._rollout)
        self._display = Display(self._rollout, searchable=start.searchable)

    # -- messages from people and from the bridge ------------------------------------------

    @workflow.signal(name="pause", description="Start no more clusters; finish those in flight")
    def pause(self, message: ChangeState = ChangeState()) -> None:
        """Accept a request to stop."""
        self._desired.take(RunState.STOP, message)

    @workflow.signal(name="resume", description="Start the run, or resume it where it stopped")
    def resume(self, message: ChangeState = ChangeState()) -> None:
        """Accept a request to run."""
        self._desired.take(RunState.RUN, message)

    @workflow.signal(name="approve", description='Approve an open gate: {"stage": "…", "by": "…"}')
    async def approve(self, message: Approve = Approve()) -> None:
        """Accept an approval for the gate it names; ignore it if it matches no gate or several."""
        try:
            ticket = self._rollout.approvals.the_one(message)
            self._refuse_unless_counted(message)
        except ValueError as error:
            fields = self._rollout.log_fields | {"stage": message.stage}
            workflow.logger.warning("approval ignored: %s", error, extra=fields)
            return
        await self._approve(ticket, message)

    @workflow.signal(name="approval_lost")
    def approval_lost(self, message: ApprovalLost | None = None) -> None:
        """Ask again: the approval request was deleted before it was accepted."""
        if message is None:
            return
        for ticket in self._rollout.approvals.find(message.stage, message.side):
            ticket.lost = True

    @workflow.signal(name="decided")
    def decided(self, message: Decided | None = None) -> None:
        """Carry out a decision that a person made on the hub, or refuse it."""
        if message:
            self._decisions.take(message)

    @workflow.signal(name="recheck")
    def recheck(self, _: Recheck = Recheck()) -> None:
        """Check whether the run may still continue."""
        self._rollout.rechecks.request()

    @workflow.signal(name=QUEUE_MOVED)
    def queue_moved(self, _: Recheck = Recheck()) -> None:
        """Look at the other runs of the placement again, if this run waits for them."""
        self._rollout.turn.look_again()

    @workflow.signal(name=SUPERSEDE)
    def supersede(self, message: Superseded | None = None) -> None:
        """Start nothing more and end, because a newer run replaces this one."""
        if message and message.by:
            self._rollout.turn.supersede(by=message.by)

    @workflow.signal(name="restore")
    def restore(self, _: Recheck = Recheck()) -> None:
        """Write the whole status again, because someone removed something from it."""
        if self._rollout.planned:
            self._rollout.ledger.touch("")

    @workflow.update(name="pause", description="Like the signal, but returns an answer")
    async def ask_to_pause(self, message: ChangeState = ChangeState()) -> Answer:
        """Stop, and return what is still in flight."""
        return await self._settle(RunState.STOP, message)

    @ask_to_pause.validator
    def _check_pause(self, message: ChangeState = ChangeState()) -> None:
        self._refuse_unless_possible(RunState.STOP)

    @workflow.update(name="resume", description="Like the signal, but returns an answer")
    async def ask_to_resume(self, message: ChangeState = ChangeState()) -> Answer:
        """Run, and confirm it."""
        return await self._settle(RunState.RUN, message)

    @ask_to_resume.validator
    def _check_resume(self, message: ChangeState = ChangeState()) -> None:
        self._refuse_unless_possible(RunState.RUN)

    @workflow.update(name="approve", description="Like the signal, but returns an answer")
    async def ask_to_approve(self, message: Approve = Approve()) -> Answer:
        """Approve a gate, and return what was approved and when it takes effect."""
        if message.on_object and not self._rollout.approvals.find(message.stage, message.side):
            # The bridge has already reported the same approval.
            return _approved(message.stage, message.side)
        try:
            ticket = self._rollout.approvals.the_one(message)
        except ValueError as error:
            # The validator has checked this already, but any error other than an
            # ApplicationError in a handler would stall the workflow.
            raise ApplicationError(str(error)) from error
        await self._approve(ticket, message)
        if ticket.lost:
            raise ApplicationError(f"{ticket.request} no longer exists; approve it again")
        later = "" if self._rollout.intent.may_run else "; it takes effect when the run is resumed"
        return _approved(ticket.stage, ticket.side, later)

    @ask_to_approve.validator
    def _check_approve(self, message: Approve = Approve()) -> None:
        if message.on_object and message.stage:
            return
        self._rollout.approvals.the_one(message)
        self._refuse_unless_counted(message)

    @workflow.update(
        name="decide",
        description='Skip or retry a cluster, or continue a paused run: {"decision": '
        '"SkipCluster", "cluster": "…", "reason": "…", "by": "…"}',
    )
    async def decide(self, message: Decide = Decide()) -> Answer:
        """Carry out a decision, recorded as that of an unknown user."""
        return Answer(text=await self._decisions.carry_out(message))

    @decide.validator
    def _check_decide(self, message: Decide = Decide()) -> None:
        if not self._rollout.trusts_temporal:
            raise ValueError(NOT_IN_TEMPORAL.format(what="decisions made"))
        self._decisions.check(message)

    @workflow.query(name="pending_approvals", description="Approvals that the run is waiting for")
    def pending_approvals(self) -> list[PendingApproval]:
        """List the approvals that the run is waiting for."""
        return self._rollout.approvals.pending

    @workflow.query(name="would_approve", description="What an approval would do")
    def would_approve(self, message: Approve = Approve()) -> Forecast:
        """Return which gate an approval would apply to, or why it would be refused."""
        try:
            return Forecast(gate=self._rollout.approvals.the_one(message).pending)
        except ValueError as error:
            return Forecast(refusal=str(error))

    @workflow.query(name="would_pause", description="Whether a request to stop would be refused")
    def would_pause(self) -> Forecast:
        """Return why a request to stop would be refused."""
        return Forecast(refusal=self._desired.refusal(RunState.STOP) or "")

    @workflow.query(name="would_resume", description="Whether a request to run would be refused")
    def would_resume(self) -> Forecast:
        """Return why a request to run would be refused."""
        return Forecast(refusal=self._desired.refusal(RunState.RUN) or "")

    # -- main flow -------------------------------------------------------------------------

    @workflow.run
    async def run(self, start: UpdateRunInput) -> RunOutcome:
        """Drive the run until it ends."""
        keepers = [
            asyncio.create_task(each)
            for each in (
                self._mirror.run(),
                self._desired.tell_hub(),
                self._desired.keep_stops(),
                self._display.run(),
                self._chronicle.run(),
                self._decisions.run(),
                self._report.run(),
            )
        ]
        try:
            again = await calls.supervised(self._to_end(), keepers)
        except asyncio.CancelledError:
            await calls.supervised(self._cancelled(), keepers)
            raise
        for keeper in keepers:
            keeper.cancel()
        if again:
            workflow.continue_as_new(
                start.model_copy(update={"carried": self._rollout.carried()}),
                initial_versioning_behavior=builds.of_next_execution(),
            )
        return self._outcome()

    async def _to_end(self) -> bool:
        """Drive this execution until it ends; return whether to continue as new."""
        again = await self._drive_guarded()
        # Finish answers and writes first: pending ones are lost when the execution ends.
        if not again:
            self._rollout.finish()
            # A completed run that still showed pending activities would be confusing.
            await self._rollout.until_unfollowed()
        await self._flushed()
        return again

    async def _drive_guarded(self) -> bool:
        """Drive until the run ends or the guard stops it; return whether to continue as new."""
        drive = asyncio.create_task(self._drive())
        guard = asyncio.create_task(self._guard.run())
        superseded = asyncio.create_task(self._queue.until_superseded())
        renewal = asyncio.create_task(self._until_renewable())
        ends: list[asyncio.Task[Any]] = [drive, guard, superseded, renewal]
        await workflow.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if not (drive.done() or guard.done() or superseded.done()):
            # Clusters stay in flight: cancelling their activities would add an event for each.
            return True
        try:
            if drive.done():
                return drive.result()
            if superseded.done():
                superseded.result()
            guard.result()
        except RunError as error:
            began = drive.done() and self._rollout.has_turn
            self._fail(error, stage_failed=began or isinstance(error, StageAborted))
            return False
        else:
            # The guard returned without an error, so the run no longer exists.
            return False
        finally:
            for each in ends:
                calls.give_up(each)

    async def _until_renewable(self) -> None:
        """Wait until the history is long, and then until every pending write is done.

        Stages may take any length of time, and gates may stay open for weeks.
        """
        rollout = self._rollout
        least = LEAST_EVENTS + 2 * len(rollout.position.in_flight)
        info = workflow.info()
        await workflow.wait_condition(
            lambda: (
                rollout.planned
                and info.is_continue_as_new_suggested()
                and info.get_current_history_length() >= least
            )
        )
        rollout.renew()
        await self._flushed()

    async def _drive(self) -> bool:
        rollout = self._rollout
        if not rollout.planned:
            if not await initialize(rollout):
                return False
            self._queue.announce()
            # People who watch the run see its plan before any of it is carried out (7.9).
            await workflow.wait_condition(lambda: self._mirror.is_clean)
        await self._queue.take_turn()
        for index, stage in enumerate(rollout.strategy.stages):
            if self._done(index):
                continue
            rollout.position.enter(index)
            await StageRun(rollout, index, stage).run()
            if self._should_renew():
                return True
        deletion = rollout.ledger.stage(DELETION)
        if not adopting.has_begun(deletion) and await self._update_again():
            return True
        if not adopting.is_done(deletion):
            await DeletionRun(rollout).run()
        if await self._update_again():
            return True
        report = f"{rollout.run.scope.report.kind} {rollout.run.name}"
        text = texts.succeeded(rollout.ledger.status, report=report)
        marks.run_succeeded(rollout.ledger, workflow.now(), text=text)
        return False

    async def _update_again(self) -> bool:
        """Update what people had handed out again after its stage; return as `_drive` does."""
        rollout = self._rollout
        while (index := adopting.due_again(rollout.ledger.status)) is not None:
            rollout.position.enter(index)
            await StageRun(rollout, index, rollout.strategy.stages[index]).run_again()
            if self._should_renew():
                return True
        return False

    def _should_renew(self) -> bool:
        return workflow.info().is_continue_as_new_suggested() or builds.newer_is_current()

    def _done(self, index: int) -> bool:
        return adopting.is_done(self._rollout.ledger.stage(index))

    def _fail(self, error: RunError, *, stage_failed: bool) -> None:
        """End the run; a fault outside a stage leaves the stages as they are."""
        rollout, text, now = self._rollout, str(error), workflow.now()
        replaced = isinstance(error, errors.Superseded)
        if stage_failed:
            marks.stage_failed(rollout.ledger, rollout.position.stage, text, now)
        reason = RunReason.SUPERSEDED if replaced else RunReason.FAILED
        marks.run_failed(rollout.ledger, text, now, reason=reason)

    # -- ending ----------------------------------------------------------------------------

    async def _cancelled(self) -> None:
        """Handle cancellation, by the bridge for a deleted run or by a person."""
        reason, rollout = workflow.cancellation_reason() or "", self._rollout
        if reason == DELETED or not (rollout.planned or rollout.ledger.closed):
            return
        if not rollout.ledger.closed:
            failure = failures.CANCELLED_IN_TEMPORAL.error(reason=f": {reason}" if reason else "")
            self._fail(failure, stage_failed=rollout.has_turn)
        await self._flushed()

    async def _flushed(self) -> None:
        """Wait until all handlers have answered and the hub has every write."""
        # A message may arrive after the condition becomes true and before this resumes, so check
        # again.
        while not self._is_clean():
            await workflow.wait_condition(self._is_clean)

    def _is_clean(self) -> bool:
        return (
            workflow.all_handlers_finished()
            and self._desired.is_settled
            and self._mirror.is_clean
            and self._chronicle.is_clean
            and self._decisions.is_clean
            and self._report.is_clean
        )

    def _outcome(self) -> RunOutcome:
        """Return the outcome that the run's deciding condition states."""
        if self._rollout.gone:
            return RunOutcome(reason="Gone", message="the run no longer exists")
        found = self._rollout.ledger.status.conditions
        for kind in (ConditionType.SUCCEEDED, ConditionType.INITIALIZED):
            if decided := conditions.find(found, kind):
                return RunOutcome(reason=decided.reason, message=decided.message)
        raise AssertionError("a finished run has succeeded, failed or not been initialized")

    # -- steps of the handlers -------------------------------------------------------------

    async def _settle(self, wanted: RunState, message: ChangeState) -> Answer:
        self._desired.take(wanted, message)
        if refused := await self._desired.settled():
            raise ApplicationError(refused)
        rollout = self._rollout
        return Answer(
            text=lifecycle.answer(
                wanted, run=rollout.run.name, in_flight=len(rollout.position.in_flight)
            )
        )

    def _refuse_unless_possible(self, wanted: RunState) -> None:
        if refusal := self._desired.refusal(wanted):
            raise ValueError(refusal)

    def _refuse_unless_counted(self, message: Approve) -> None:
        if not (message.on_object or self._rollout.trusts_temporal):
            raise ValueError(NOT_IN_TEMPORAL.format(what="approvals given"))

    async def _approve(self, ticket: Ticket, message: Approve) -> None:
        if not message.on_object:
            request = RecordApproval(
                run=self._rollout.run, name=ticket.request, by=message.by, comment=message.comment
            )
            recorded = await calls.effect(
                stubs.RECORD_APPROVAL, request, summary=f"{ticket.request}: approved"
            )
            ticket.lost = not recorded.exists
        ticket.approved = not ticket.lost


def _approved(stage: str, side: GateSide | None, later: str = "") -> Answer:
    where = f" ({side})" if side else ""
    return Answer(text=f"stage {stage}{where} is approved{later}")
