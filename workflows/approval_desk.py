"""Matching approvals that the workflow receives with the gates that wait for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from planning.runs.gates import GateSide, PendingApproval
    from workflows.messages import Approve


@dataclass
class Ticket:
    """One approval that a gate waits for."""

    stage: str
    side: GateSide
    request: str
    """Name of the (Cluster)ApprovalRequest."""
    approved: bool = False
    """Whether an approval has arrived; the gate has yet to verify it on the hub."""
    lost: bool = False
    """Whether the approval request was deleted."""

    @property
    def pending(self) -> PendingApproval:
        """The approval as shown to people."""
        return PendingApproval(stage=self.stage, side=self.side, request=self.request)


class ApprovalDesk:
    """The open approvals of a run, in the order in which they were opened."""

    def __init__(self, carried: Sequence[PendingApproval]) -> None:
        """Accept approvals at once for gates that an earlier execution had open."""
        self._open = [Ticket(each.stage, each.side, each.request) for each in carried]

    def open(self, stage: str, side: GateSide, request: str) -> Ticket:
        """Accept approvals for a gate from now on."""
        for ticket in self._open:
            if ticket.request == request:
                return ticket
        self._open.append(Ticket(stage, side, request))
        return self._open[-1]

    def close(self, ticket: Ticket) -> None:
        """Stop accepting approvals for a gate, which is passed."""
        self._open.remove(ticket)

    @property
    def carried(self) -> list[PendingApproval]:
        """The approvals that the next execution is to accept."""
        return [ticket.pending for ticket in self._open]

    @property
    def pending(self) -> list[PendingApproval]:
        """The approvals that the run waits for."""
        return [ticket.pending for ticket in self._open if not ticket.approved]

    def find(self, stage: str, side: GateSide | None) -> list[Ticket]:
        """Return the open approvals of a stage and side; an empty stage or None matches any."""
        return [
            ticket
            for ticket in self._open
            if stage in ("", ticket.stage) and side in (None, ticket.side)
        ]

    def the_one(self, message: Approve) -> Ticket:
        """Return the open approval that a message means.

        Raises:
            ValueError: it matches none or several; the text lists those that are open.
        """
        found = self.find(message.stage, message.side)
        if len(found) == 1:
            return found[0]
        side = f"{message.side}-stage " if message.side else ""
        where = f"stage {message.stage}" if message.stage else "the run"
        if not found:
            raise ValueError(f"{where} has no open {side}approval; {self._listing()}")
        raise ValueError(f"{where} has several open approvals: name one; {self._listing()}")

    def _listing(self) -> str:
        if not self._open:
            return "the run is not waiting for any approval"
        each = (f"stage {ticket.stage} ({ticket.side})" for ticket in self._open)
        return "open approvals: " + ", ".join(each)
