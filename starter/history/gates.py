"""Who opened a gate: the first of those who approved it since it was asked for.

Pure. An approval comes as a message that the workflow records on the object, or as a signal that
the object has one already.
"""

from dataclasses import dataclass
from datetime import datetime

from activities.requests import OpenApproval, RecordApproval
from planning import signatures
from starter.history import telling
from starter.history.entries import Entry, What
from workflows.messages import Approve

_SIDES = {"beforeStage": "before", "afterStage": "after"}


@dataclass(slots=True)
class Gate:
    """An approval that was asked for."""

    stage: str
    side: str
    first: datetime | None = None
    """When it was given first."""
    message: RecordApproval | None = None
    """With which message; None when it was made on the object."""

    def give(self, at: datetime, message: RecordApproval | None = None) -> None:
        """Take an approval; a later one changes nothing."""
        if self.first is None:
            self.first, self.message = at, message


class Gates:
    """All gates that approvals open, by the name of the approval request."""

    def __init__(self) -> None:
        self._gates: dict[str, Gate] = {}

    def ask(self, request: OpenApproval, at: datetime) -> Entry:
        """An approval is asked for, or anew because its request was deleted."""
        gate = Gate(stage=request.stage, side=_SIDES.get(request.task_type, ""))
        self._gates[request.name] = gate
        return Entry(at, What.APPROVAL_ASKED, gate.side, gate.stage, comment=request.name)

    def record(self, message: RecordApproval, at: datetime) -> None:
        """Somebody approved with a message to the workflow."""
        if gate := self._gates.get(message.name):
            gate.give(at, message)

    def notice(self, message: Approve, at: datetime) -> None:
        """The object carries an approval, perhaps that of an earlier message."""
        for gate in self._gates.values():
            if gate.stage == message.stage and message.side in (None, gate.side):
                gate.give(at)

    def accept(self, request: str, given: str, at: datetime) -> Entry | None:
        """The run took the approval; `given` is what the object says of who gave it."""
        gate = self._gates.get(request)
        if gate is None:
            return None
        who, comment = telling.approver(given)
        if gate.message and not given:
            who, comment = signatures.of_temporal(gate.message.by), gate.message.comment
        when = gate.first or at
        return Entry(when, What.APPROVED, gate.side, gate.stage, who=who, comment=comment)
