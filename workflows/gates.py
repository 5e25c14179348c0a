"""The gates before and after a stage. They open side by side; a stage passes when all have.

A further kind of gate is one class here and its entry in `open_gates` (design D14).

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
    from planning.runs.tasks import GateSide, Side, is_passed
    from workflows import calls
    from workflows.approval_desk import Ticket
    from workflows.rollout import Rollout


class Gate(Protocol):
    """Something that has to happen before a run may go on."""

    async def open(self) -> None:
        """Get ready for it, before people are told that the run waits."""

    def announce(self) -> None:
        """Say of itself in the status that it is open."""

    async def passed(self) -> None:
        """Return once it has happened and the run is not stopped."""


async def pass_gates(rollout: Rollout, side: Side, declared: list[StageTask]) -> None:
    """Open all gates on one side of the stage at work and wait until all are passed."""
    gates = open_gates(rollout, side, declared)
    if declared and not gates:
        return
    recalled = rollout.recalled
    if recalled and rollout.resumes(rollout.stage) and recalled.waiting == side:
        # They were open already, also where the run is stopped by now.
        rollout.waiting_since = recalled.waiting_since or rollout.waiting_since
        rollout.waiting = side
    else:
        await rollout.until_running()
        rollout.waiting_since = workflow.now()
    await asyncio.gather(*(gate.open() for gate in gates))
    # Told at once, in one write: who reads that the run waits finds what it waits for.
    rollout.waiting = side
    if rollout.may_go_on:
        marks.waiting(rollout.ledger, rollout.stage, side, workflow.now())
    for gate in gates:
        gate.announce()
    await asyncio.gather(*(gate.passed() for gate in gates))
    rollout.waiting = None


def open_gates(rollout: Rollout, side: Side, declared: list[StageTask]) -> list[Gate]:
    """One gate for each task that the strategy declares and that is not passed, in its order."""
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
    """Lets the run pass some time after the stage's last cluster was updated."""

    def __init__(self, rollout: Rollout, side: Side, position: int, task: StageTask) -> None:
        self._rollout = rollout
        self._position = position
        self._time = task.wait_time or "0s"

    async def open(self) -> None:
        """Its time runs anyway."""

    def announce(self) -> None:
        """The status speaks of a wait only when it is over."""

    async def passed(self) -> None:
        """Sleep on a durable timer. A stop does not restart it (decision 5)."""
        rollout, index = self._rollout, self._rollout.stage
        stage = rollout.ledger.stage(index).stage_name
        over_at = rollout.waiting_since + durations.parse(self._time)
        await workflow.sleep(
            max(over_at - workflow.now(), timedelta(0)),
            summary=f"{stage}: wait {self._time} after the stage",
        )
        await rollout.until_running()
        marks.wait_elapsed(rollout.ledger, index, self._position, workflow.now())


class ApprovalGate:
    """Lets the run pass when a person approved, on the hub or through Temporal."""

    def __init__(self, rollout: Rollout, side: Side, position: int, _: StageTask) -> None:
        self._rollout = rollout
        self._index = rollout.stage
        self._side = side
        self._position = position
        self._ticket: Ticket

    async def open(self) -> None:
        """Ask for approval."""
        ledger, side = self._rollout.ledger, self._side
        # Before the request exists: the answer to it may be there before we hear of it.
        self._ticket = self._rollout.approvals.open(
            ledger.stage(self._index).stage_name,
            GateSide(side),
            ledger.task(self._index, side, self._position).approval_request_name,
        )
        await self._ask()

    def announce(self) -> None:
        """The request exists."""
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
            "open_approval", self._opening(), ApprovalState, summary=f"{ticket.request}: ask"
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
        # Taken back or deleted before it was accepted: it has to be given again.
        ticket.approved = accepted.approved
        if accepted.approved:
            self._tell(accepted.given)
        return accepted.approved

    def _tell(self, given: str) -> None:
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
