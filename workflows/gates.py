"""The gates before and after a stage. All gates of one side open together, and all must pass.

To add a kind of gate, define it in `planning.runs.gates` and add its executor here.

contract: update-runs 8.2, 8.5 and 8.7
"""

import asyncio
from abc import ABC, abstractmethod
from datetime import timedelta
from typing import Final

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import AcceptApproval, OpenApproval
    from api.strategies import StageTask, StageTaskType
    from planning import durations
    from planning.runs import marks, run_events
    from planning.runs.gates import WAIT_TIMER, GateSide, Side, is_passed
    from workflows import calls
    from workflows.approval_desk import Ticket
    from workflows.rollout import Rollout


class GateExecutor(ABC):
    """Executor of a gate: what a run does until the gate is passed."""

    def __init__(self, rollout: Rollout, side: Side, position: int, task: StageTask) -> None:
        self.rollout = rollout
        self.index = rollout.position.stage
        self.side = side
        self.position = position
        self.task = task

    @property
    def stage(self) -> str:
        """Name of the stage."""
        return self.rollout.ledger.stage(self.index).stage_name

    async def open(self) -> None:  # noqa: B027 - many gates need no preparation
        """Open the gate, before the status says that the run waits."""

    def announce(self) -> None:
        """Report in the status that the gate is open."""
        marks.gate_opened(self.rollout.ledger, self.index, self.side, self.position, workflow.now())

    async def pass_when_due(self) -> None:
        """Wait until the gate may be passed, and report that it is."""
        await self.due()
        marks.gate_passed(self.rollout.ledger, self.index, self.side, self.position, workflow.now())

    @abstractmethod
    async def due(self) -> None:
        """Wait until the gate may be passed and the run is not stopped."""


async def pass_gates(rollout: Rollout, side: Side, declared: list[StageTask]) -> None:
    """Open all gates on one side of the current stage and wait until all are passed."""
    gates = open_gates(rollout, side, declared)
    if declared and not gates:
        return
    recalled = rollout.position.recalled
    if recalled and rollout.position.resumes(rollout.position.stage) and recalled.waiting == side:
        # They were open already, even if the run is stopped now.
        rollout.position.gates_opened_at(recalled.waiting_since or rollout.position.opened_at)
        rollout.position.open_gates(side)
    else:
        await rollout.until_running()
        rollout.position.gates_opened_at(workflow.now())
    await asyncio.gather(*(gate.open() for gate in gates))
    # Reported in one write, so that a status that says the run waits also shows what it waits for.
    rollout.position.open_gates(side)
    if rollout.intent.may_run:
        marks.waiting(rollout.ledger, rollout.position.stage, side, workflow.now())
    for gate in gates:
        gate.announce()
    await asyncio.gather(*(gate.pass_when_due() for gate in gates))
    rollout.position.close_gates()


def open_gates(rollout: Rollout, side: Side, declared: list[StageTask]) -> list[GateExecutor]:
    """Return a gate for each declared task that has not been passed, in the declared order."""
    recorded = rollout.ledger.tasks(rollout.position.stage, side)
    return [
        EXECUTORS[task.type](rollout, side, position, task)
        for position, task in enumerate(declared)
        if not is_passed(recorded[position])
    ]


class TimedWaitGate(GateExecutor):
    """A gate that passes some time after the stage's last cluster was updated."""

    async def due(self) -> None:
        """Sleep on a durable timer. A stop does not restart it (contract decision 5)."""
        length = self.task.wait_time or "0s"
        over_at = self.rollout.position.opened_at + durations.parse(length)
        await workflow.sleep(
            max(over_at - workflow.now(), timedelta(0)),
            summary=WAIT_TIMER.fill(stage=self.stage, length=length),
        )
        await self.rollout.until_running()


class ApprovalGate(GateExecutor):
    """A gate that passes when a person approves it, on the hub or through Temporal."""

    _ticket: Ticket

    async def open(self) -> None:
        """Create the approval request."""
        entry = self.rollout.ledger.task(self.index, self.side, self.position)
        # Opened before the request exists: its approval may arrive before the activity's result.
        self._ticket = self.rollout.approvals.open(
            self.stage, GateSide(self.side), entry.approval_request_name
        )
        await self._ask()

    async def due(self) -> None:
        """Wait until approval is given and accepted; ask again if the request is deleted."""
        while not await self._approved():
            await self._ask()
        self.rollout.approvals.close(self._ticket)

    async def _ask(self) -> None:
        ticket = self._ticket
        await self.rollout.until_running()
        ticket.lost = False
        request = OpenApproval(
            run=self.rollout.run,
            name=ticket.request,
            stage=ticket.stage,
            task_type=f"{self.side}Stage",
        )
        opened = await calls.effect(
            stubs.OPEN_APPROVAL, request, summary=f"{ticket.request}: create"
        )
        ticket.approved = ticket.approved or opened.approved

    async def _approved(self) -> bool:
        ticket = self._ticket
        await workflow.wait_condition(lambda: ticket.approved or ticket.lost)
        await self.rollout.until_running()
        request = AcceptApproval(run=self.rollout.run, name=ticket.request)
        accepted = await calls.effect(
            stubs.ACCEPT_APPROVAL, request, summary=f"{ticket.request}: accept"
        )
        # If the approval was withdrawn or deleted before it was accepted, it must be given again.
        ticket.approved = accepted.approved
        if accepted.approved:
            event = run_events.approved(
                stage=ticket.stage, side=self.side, given=accepted.given, now=workflow.now()
            )
            self.rollout.notices.note(event)
        return accepted.approved


EXECUTORS: Final[dict[str, type[GateExecutor]]] = {
    StageTaskType.APPROVAL: ApprovalGate,
    StageTaskType.TIMED_WAIT: TimedWaitGate,
}
"""How each kind of gate in `planning.runs.gates.KINDS` is carried out."""
