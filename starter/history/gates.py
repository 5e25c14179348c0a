"""Who opened a gate: the first person to approve after the approval was requested.

Pure. An approval arrives as a message that the workflow records on the approval request, or as a
signal that the request already has one.
"""

from dataclasses import dataclass
from datetime import datetime

from activities.requests import OpenApproval, RecordApproval
from planning import signatures
from planning.runs.approval_events import Given
from starter.history.entries import Entry, What
from workflows.messages import Approve

_SIDES = {"beforeStage": "before", "afterStage": "after"}


@dataclass(slots=True)
class Gate:
    """An approval that was requested."""

    stage: str
    side: str
    first: datetime | None = None
    """When it was first given."""
    message: RecordApproval | None = None
    """The message that gave it; None if it was written to the approval request."""

    def give(self, at: datetime, message: RecordApproval | None = None) -> None:
        """Note an approval; only the first one counts."""
        if self.first is None:
            self.first, self.message = at, message


class Gates:
    """The approval gates of a run, by the name of the approval request."""

    def __init__(self) -> None:
        self._gates: dict[str, Gate] = {}

    def ask(self, request: OpenApproval, at: datetime) -> Entry:
        """Note a request for an approval; it comes again if the request object was deleted."""
        gate = Gate(stage=request.stage, side=_SIDES.get(request.task_type, ""))
        self._gates[request.name] = gate
        return Entry(at, What.APPROVAL_ASKED, gate.side, gate.stage, comment=request.name)

    def record(self, message: RecordApproval, at: datetime) -> None:
        """Note an approval that was sent to the workflow as a message."""
        if gate := self._gates.get(message.name):
            gate.give(at, message)

    def notice(self, message: Approve, at: datetime) -> None:
        """Note that an approval request carries an approval, perhaps from an earlier message."""
        for gate in self._gates.values():
            if gate.stage == message.stage and message.side in (None, gate.side):
                gate.give(at)

    def accept(self, request: str, given: Given, at: datetime) -> Entry | None:
        """Return the entry for an approval that the run accepted; None for an unknown request."""
        gate = self._gates.get(request)
        if gate is None:
            return None
        who, comment = given.who, given.comment
        if gate.message and not given.message:
            who, comment = signatures.of_temporal(gate.message.by), gate.message.comment
        when = gate.first or at
        return Entry(when, What.APPROVED, gate.side, gate.stage, who=who, comment=comment)
