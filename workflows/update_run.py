"""The workflow of one update run, from its plan to its end.

Reading order: start, messages, what happens, how it ends. Stages, gates, stop and resume, the
mirror of the status and the guard have a module each; all of them share one `Rollout`.
"""

import asyncio
from typing import Final

from temporalio import workflow
from temporalio.exceptions import ApplicationError

with workflow.unsafe.imports_passed_through():
    from activities.requests import ApprovalState, RecordApproval
    from api.reasons import ConditionType
    from api.runs import RunState
    from planning import conditions
    from planning.errors import RunError, StageAborted, abort, user
    from planning.runs import adopting, lifecycle, marks
    from planning.runs.tasks import GateSide
    from workflows import builds, calls
    from workflows.approval_desk import Ticket
    from workflows.chronicle import Chronicle
    from workflows.deletion import remove_clusters
    from workflows.desired_state import DesiredState
    from workflows.display import Display
    from workflows.guard import Guard
    from workflows.messages import (
        WORKFLOW,
        Answer,
        ApprovalLost,
        Approve,
        ChangeState,
        Outcome,
        PendingApproval,
        Recheck,
        UpdateRunInput,
        Verdict,
    )
    from workflows.mirror import Mirror
    from workflows.planning_phase import initialize
    from workflows.rollout import Rollout
    from workflows.stages import StageRun

DELETED = "the run was deleted on the hub"
"""Reason with which the bridge cancels the workflow of a deleted run."""
LEAST_EVENTS: Final = 1_000
"""What an execution does besides handing clusters out again before another one goes on, however
early Temporal suggests it: each begins with a look at the hub."""
NOT_IN_TEMPORAL = (
    "approvals given in Temporal alone are refused, because Temporal does not know the hub's "
    "users; type fleetgate approve, or approve with kubectl"
)
"""Where operators have set it so."""


@workflow.defn(name=WORKFLOW)
class UpdateRun:
    """Takes one snapshot through the clusters of a placement, stage by stage."""

    @workflow.init
    def __init__(self, start: UpdateRunInput) -> None:
        self._rollout = Rollout(start)
        self._desired = DesiredState(self._rollout)
        self._guard = Guard(self._rollout)
        self._mirror = Mirror(self._rollout)
        self._chronicle = Chronicle(self._rollout)
        self._display = Display(self._rollout, searchable=start.searchable)

    # -- messages: people and the bridge ---------------------------------------------------

    @workflow.signal(name="pause", description="Start no further cluster; let those in flight end")
    def pause(self, message: ChangeState = ChangeState()) -> None:
        """Take the wish to stop."""
        self._desired.take(RunState.STOP, message)

    @workflow.signal(name="resume", description="Start the run, or go on where it was stopped")
    def resume(self, message: ChangeState = ChangeState()) -> None:
        """Take the wish to run."""
        self._desired.take(RunState.RUN, message)

    @workflow.signal(name="approve", description='Approve an open gate: {"stage": "…", "by": "…"}')
    async def approve(self, message: Approve = Approve()) -> None:
        """Take an approval for the gate it means; one that means none or several is no approval."""
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

    @workflow.signal(name="recheck")
    def recheck(self, _: Recheck = Recheck()) -> None:
        """Look whether the run may still go on."""
        self._rollout.doubt()

    @workflow.signal(name="restore")
    def restore(self, _: Recheck = Recheck()) -> None:
        """Write the whole status again: somebody has taken something out of it."""
        if self._rollout.planned:
            self._rollout.ledger.touch("")

    @workflow.update(name="pause", description="As the signal, with an answer")
    async def ask_to_pause(self, message: ChangeState = ChangeState()) -> Answer:
        """Stop, and say what is still in flight."""
        return await self._settle(RunState.STOP, message)

    @ask_to_pause.validator
    def _check_pause(self, message: ChangeState = ChangeState()) -> None:
        self._refuse_unless_possible(RunState.STOP)

    @workflow.update(name="resume", description="As the signal, with an answer")
    async def ask_to_resume(self, message: ChangeState = ChangeState()) -> Answer:
        """Run, and say so."""
        return await self._settle(RunState.RUN, message)

    @ask_to_resume.validator
    def _check_resume(self, message: ChangeState = ChangeState()) -> None:
        self._refuse_unless_possible(RunState.RUN)

    @workflow.update(name="approve", description="As the signal, with an answer")
    async def ask_to_approve(self, message: Approve = Approve()) -> Answer:
        """Approve, and say what that means."""
        if message.on_object and not self._rollout.approvals.find(message.stage, message.side):
            # The bridge was quicker to tell of the same approval.
            return _approved(message.stage, message.side)
        try:
            ticket = self._rollout.approvals.the_one(message)
        except ValueError as error:
            # The validator has looked already; but anything else that a handler raises would
            # stall the workflow.
            raise ApplicationError(str(error)) from error
        await self._approve(ticket, message)
        if ticket.lost:
            raise ApplicationError(f"{ticket.request} does not exist any more; approve it again")
        later = "" if self._rollout.may_go_on else "; it counts when the run is resumed"
        return _approved(ticket.stage, ticket.side, later)

    @ask_to_approve.validator
    def _check_approve(self, message: Approve = Approve()) -> None:
        if message.on_object and message.stage:
            return
        self._rollout.approvals.the_one(message)
        self._refuse_unless_counted(message)

    @workflow.query(name="pending_approvals", description="What the run waits for people to do")
    def pending_approvals(self) -> list[PendingApproval]:
        """List the approvals that are open."""
        return self._rollout.approvals.pending

    @workflow.query(name="would_approve", description="What would become of an approval")
    def would_approve(self, message: Approve = Approve()) -> Verdict:
        """Say which gate an approval means, or why it would be refused."""
        try:
            return Verdict(gate=self._rollout.approvals.the_one(message).pending)
        except ValueError as error:
            return Verdict(refusal=str(error))

    @workflow.query(name="would_pause", description="What would become of a wish to stop")
    def would_pause(self) -> Verdict:
        """Say why a wish to stop would be refused."""
        return Verdict(refusal=self._desired.refusal(RunState.STOP) or "")

    @workflow.query(name="would_resume", description="What would become of a wish to run")
    def would_resume(self) -> Verdict:
        """Say why a wish to run would be refused."""
        return Verdict(refusal=self._desired.refusal(RunState.RUN) or "")

    # -- what happens ----------------------------------------------------------------------

    @workflow.run
    async def run(self, start: UpdateRunInput) -> Outcome:
        """Drive the run to its end."""
        keepers = [
            asyncio.create_task(each)
            for each in (
                self._mirror.run(),
                self._desired.tell_hub(),
                self._desired.keep_stops(),
                self._display.run(),
                self._chronicle.run(),
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
        """Drive this execution to its end; return whether to continue as new."""
        again = await self._drive_guarded()
        # Answers and writes first: what is under way does not survive the end.
        self._rollout.finished = not again
        if not again:
            # Nor would anybody understand what a run that is over still has under way.
            await self._rollout.until_unfollowed()
        await self._flushed()
        return again

    async def _drive_guarded(self) -> bool:
        """Drive until the end, or until the guard forbids it; says whether to continue as new."""
        drive = asyncio.create_task(self._drive())
        guard = asyncio.create_task(self._guard.run())
        renewal = asyncio.create_task(self._until_renewable())
        ends = [drive, guard, renewal]
        await workflow.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if not (drive.done() or guard.done()):
            # Clusters stay in flight: to cancel their activities would be an event for each.
            return True
        try:
            if not drive.done():
                guard.result()
                # The guard found nothing wrong but that the run is gone.
                return False
            return drive.result()
        except RunError as error:
            in_stage = drive.done() or isinstance(error, StageAborted)
            self._fail(str(error), stage_failed=in_stage)
            return False
        finally:
            for each in ends:
                calls.give_up(each)

    async def _until_renewable(self) -> None:
        """Wait until the history is long, and then until nothing is left to be written.

        Stages may be of any length, and gates stay open for weeks.
        """
        rollout = self._rollout
        least = LEAST_EVENTS + 2 * len(rollout.in_flight)
        info = workflow.info()
        await workflow.wait_condition(
            lambda: (
                rollout.planned
                and info.is_continue_as_new_suggested()
                and info.get_current_history_length() >= least
            )
        )
        rollout.renewing = True
        await self._flushed()

    async def _drive(self) -> bool:
        rollout = self._rollout
        if not rollout.planned:
            if not await initialize(rollout):
                return False
            # Whoever watches the run sees its plan before anything of it is done (7.9).
            await workflow.wait_condition(lambda: self._mirror.is_clean)
        for index, stage in enumerate(rollout.strategy.stages):
            if self._done(index):
                continue
            rollout.stage = index
            await StageRun(rollout, index, stage).run()
            if workflow.info().is_continue_as_new_suggested() or builds.newer_is_current():
                return True
        await remove_clusters(rollout)
        marks.run_succeeded(rollout.ledger, workflow.now())
        return False

    def _done(self, index: int) -> bool:
        return adopting.is_done(self._rollout.ledger.stage(index))

    def _fail(self, text: str, *, stage_failed: bool) -> None:
        """End the run; a fault outside of a stage leaves its stages as they are."""
        rollout, now = self._rollout, workflow.now()
        if stage_failed:
            marks.stage_failed(rollout.ledger, rollout.stage, text, now)
        marks.run_failed(rollout.ledger, text, now)

    # -- how it ends -----------------------------------------------------------------------

    async def _cancelled(self) -> None:
        """Somebody cancelled the workflow: the bridge for a deleted run, or a person."""
        reason, rollout = workflow.cancellation_reason() or "", self._rollout
        if reason == DELETED or not (rollout.planned or rollout.ledger.closed):
            return
        if not rollout.ledger.closed:
            self._fail(str(abort(user(_cancelled_text(reason)))), stage_failed=True)
        await self._flushed()

    async def _flushed(self) -> None:
        """Wait until all handlers have answered and the hub has every write."""
        # Between the condition becoming true and this resuming, a message may arrive: ask again.
        while not self._is_clean():
            await workflow.wait_condition(self._is_clean)

    def _is_clean(self) -> bool:
        return (
            workflow.all_handlers_finished()
            and self._desired.is_settled
            and self._mirror.is_clean
            and self._chronicle.is_clean
        )

    def _outcome(self) -> Outcome:
        """The run's deciding condition."""
        if self._rollout.gone:
            return Outcome(reason="Gone", message="the run does not exist any more")
        found = self._rollout.ledger.status.conditions
        for kind in (ConditionType.SUCCEEDED, ConditionType.INITIALIZED):
            if decided := conditions.find(found, kind):
                return Outcome(reason=decided.reason, message=decided.message)
        raise AssertionError("a run that is over has succeeded, failed or never begun")

    # -- small steps of the handlers -------------------------------------------------------

    async def _settle(self, wanted: RunState, message: ChangeState) -> Answer:
        self._desired.take(wanted, message)
        if refused := await self._desired.settled():
            raise ApplicationError(refused)
        rollout = self._rollout
        return Answer(
            text=lifecycle.answer(wanted, run=rollout.run.name, in_flight=len(rollout.in_flight))
        )

    def _refuse_unless_possible(self, wanted: RunState) -> None:
        if refusal := self._desired.refusal(wanted):
            raise ValueError(refusal)

    def _refuse_unless_counted(self, message: Approve) -> None:
        if not (message.on_object or self._rollout.takes_approvals):
            raise ValueError(NOT_IN_TEMPORAL)

    async def _approve(self, ticket: Ticket, message: Approve) -> None:
        if not message.on_object:
            request = RecordApproval(
                run=self._rollout.run, name=ticket.request, by=message.by, comment=message.comment
            )
            recorded = await calls.effect(
                "record_approval", request, ApprovalState, summary=f"{ticket.request}: approved"
            )
            ticket.lost = not recorded.exists
        ticket.approved = not ticket.lost


def _approved(stage: str, side: GateSide | None, later: str = "") -> Answer:
    where = f" ({side})" if side else ""
    return Answer(text=f"stage {stage}{where} is approved{later}")


def _cancelled_text(reason: str) -> str:
    return "the workflow was cancelled in Temporal" + (f": {reason}" if reason else "")
