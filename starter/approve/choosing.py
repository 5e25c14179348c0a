"""Which of the gates that a run stands at is meant. Pure."""

from starter import words
from starter.failures import Failure
from starter.gates import Approval
from starter.views import RunView
from workflows.messages import Approve


def choose(view: RunView, wanted: Approve) -> Approval | None:
    """The one open gate that is meant, or None if none is. Raises Failure if several are."""
    meant = [gate for gate in view.gates.approvals if _is_meant(gate, wanted)]
    if len(meant) > 1:
        raise Failure(
            f"run {view.name} waits for several approvals; name stage and side, or --all-pending",
            advice="\n  ".join(words.approve_command(view, gate) for gate in meant),
        )
    return meant[0] if meant else None


def none_open(view: RunView, wanted: Approve) -> Failure:
    """That the run waits for nothing of what is meant, and what it does wait for."""
    if not view.gates.approvals:
        return Failure(f"run {view.name} waits for no approval now")
    gate = f"{wanted.side or 'at'} {f'stage {wanted.stage}' if wanted.stage else 'any stage'}"
    waits = ", ".join(map(str, view.gates.approvals))
    return Failure(f"run {view.name} waits for no approval {gate}; it waits for: {waits}")


def _is_meant(gate: Approval, wanted: Approve) -> bool:
    return wanted.stage in ("", gate.stage) and wanted.side in (None, gate.side)
