"""Choosing the gate to approve among the open gates of a run. Pure."""

from planning.runs.gates import PendingApproval
from planning.runs.views import RunView
from starter import words
from starter.failures import Failure
from workflows.messages import Approve


def choose(view: RunView, wanted: Approve) -> PendingApproval | None:
    """Return the open gate that matches, or None. Raises Failure if several match."""
    meant = [gate for gate in view.gates.approvals if _is_meant(gate, wanted)]
    if len(meant) > 1:
        raise Failure(
            f"run {view.name} waits for several approvals; specify stage and side, "
            "or use --all-pending",
            advice="\n  ".join(words.approve_command(view, gate) for gate in meant),
        )
    return meant[0] if meant else None


def none_open(view: RunView, wanted: Approve) -> Failure:
    """Make the failure that no open gate matches; it names the open ones."""
    if not view.gates.approvals:
        return Failure(f"run {view.name} is not waiting for an approval")
    gate = f"{wanted.side or 'at'} {f'stage {wanted.stage}' if wanted.stage else 'any stage'}"
    waits = ", ".join(map(str, view.gates.approvals))
    return Failure(
        f"run {view.name} is not waiting for an approval {gate}; it is waiting for: {waits}"
    )


def _is_meant(gate: PendingApproval, wanted: Approve) -> bool:
    return wanted.stage in ("", gate.stage) and wanted.side in (None, gate.side)
