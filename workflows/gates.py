"""The gates before and after a stage. All gates of one side open together, and all must pass.

To add a kind of gate, write a class here and register it in `open_gates`.

contract: update-runs 8.2, 8.5 and 8.7
"""

import asyncio
from datetime import timedelta
from typing import Protocol

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.requests import AcceptApproval, ApprovalState, OpenApproval
    from api.strategies import StageTask, StageTaskType
    from planning import durations
    from planning.runs import marks, run_events
    from planning.runs.approval_events import Given
    from planning.runs.tasks import WAIT_TIMER, GateSide, Side, is_passed
    from workflows import calls
    from workflows.approval_desk import Ticket
    from workflows.rollout import Rollout


class Gate(Protocol):
    """Something that has to happen before a run may continue."""

    async def open(self) -> None:
        """Open the gate, before the status says that the run waits."""

    def announce(self) -> None:
        """Report in the status that the gate is open."""

    async def passed(self) -> None:
        """Wait until the gate is passed and the run is not stopped."""


async def pass_gates(rollout: Rollout, side: Side, declared: list[StageTask]) -> None:
    """Open all gates on one side of the current stage and wait until all are passed."""
    gates = open_gates(rollout, side, declared)
    if declared and not gates:
        return
    recalled = rollout.recalled
    if recalled and rollout.resumes(rollout.stage) and recalled.waiting == side:
        # They were open already, even if the run is stopped now.
        rollout.waiting_since = recalled.waiting_since or rollout.waiting_since
        rollout.waiting = side
    else:
        await rollout.until_running()
        rollout.waiting_since = workflow.now()
    await asyncio.gather(*(gate.open() for gate in gates))
    # Reported in one write, so that a status that says the run waits also shows what it waits for.
    rollout.waiting = side
    if rollout.may_go_on:
        marks.waiting(rollout.ledger, rollout.stage, side, workflow.now())
    for gate in gates:
        gate.announce()
    await asyncio.gather(*(gate.passed() for gate in gates))
    rollout.waiting = None


def open_gates(rollout: Rollout, side: Side, declared: list[StageTask]) -> list[Gate]:
    """Return a gate for each declared task that is not passed yet, in the strategy's order."""
    kinds: dict[StageTaskType, type[ApprovalGate | TimedWaitGate]] = {
        StageTaskType.APPROVAL: ApprovalGate,
        StageTaskType.TIMED_WAIT: TimedWaitGate,
    }
    recorded = rollout.ledger.tasks(rollout.stage, side)
    return [
        kinds[task.type](rollout, side, position, task)
        for position, task in enumerate(declared)
        if not is_passed(recorded[position])
    ]


class TimedWaitGate:
    """A gate that passes some time after the stage's last cluster was updated."""

    def __init__(self, rollout: Rollout, side: Side, position: int, task: StageTask) -> None:
        self._rollout = rollout
        self._position = position
        self._time = task.wait_time or "0s"

    async def open(self) -> None:
        """Do nothing: the wait has already begun."""

    def announce(self) -> None:
        """Do nothing: the status shows a timed wait only when it is over."""

    async def passed(self) -> None:
        """Sleep on a durable timer. A stop does not restart it (contract decision 5)."""
        rollout, index = self._rollout, self._rollout.stage
        stage = rollout.ledger.stage(index).stage_name
        over_at = rollout.waiting_since + durations.parse(self._time)
        await workflow.sleep(
            max(over_at - workflow.now(), timedelta(0)),
            summary=WAIT_TIMER.fill(stage=stage, length=self._time),
        )
        await rollout.until_running()
        marks.wait_elapsed(rollout.ledger, index, self._position, workflow.now())


class ApprovalGate:
    """A gate that passes when a person approves it, on the hub or through Temporal."""

    def __init__(self, rollout: Rollout, side: Side, position: int, _: StageTask) -> None:
        self._rollout = rollout
        self._index = rollout.stage
        self._side = side
        self._position = position
        self._ticket: Ticket

    async def open(self) -> None:
        """Create the approval request."""
        ledger, side = self._rollout.ledger, self._side
        # Opened before the request exists: its approval may arrive before the activity's result.
        self._ticket = self._rollout.approvals.open(
            ledger.stage(self._index).stage_name,
            GateSide(side),
            ledger.task(self._index, side, self._position).approval_request_name,
        )
        await self._ask()

    def announce(self) -> None:
        """Report that the approval request has been created."""
        marks.approval_created(
            self._rollout.ledger, self._index, self._side, self._position, workflow.now()
        )

    async def passed(self) -> None:
        """Wait until approval is given and accepted; ask again if the request is deleted."""
        rollout = self._rollout
        while not await self._approved():
            await self._ask()
        rollout.approvals.close(self._ticket)
        marks.approval_given(
            rollout.ledger, self._index, self._side, self._position, workflow.now()
        )

    async def _ask(self) -> None:
        ticket = self._ticket
        await self._rollout.until_running()
        ticket.lost = False
        opened = await calls.effect(
            "open_approval", self._opening(), ApprovalState, summary=f"{ticket.request}: create"
        )
        ticket.approved = ticket.approved or opened.approved

    async def _approved(self) -> bool:
        ticket = self._ticket
        await workflow.wait_condition(lambda: ticket.approved or ticket.lost)
        await self._rollout.until_running()
        return await self._accepted()

    async def _accepted(self) -> bool:
        ticket = self._ticket
        request = AcceptApproval(run=self._rollout.run, name=ticket.request)
        accepted = await calls.effect(
            "accept_approval", request, ApprovalState, summary=f"{ticket.request}: accept"
        )
        # If the approval was withdrawn or deleted before it was accepted, it must be given again.
        ticket.approved = accepted.approved
        if accepted.approved:
            self._tell(accepted.given)
        return accepted.approved

    def _tell(self, given: Given) -> None:
        event = run_events.approved(
            stage=self._ticket.stage, side=self._side, given=given, now=workflow.now()
        )
        self._rollout.told.append(event)

    def _opening(self) -> OpenApproval:
        return OpenApproval(
            run=self._rollout.run,
            name=self._ticket.request,
            stage=self._ticket.stage,
            task_type=f"{self._side}Stage",
        )
