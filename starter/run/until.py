"""When `run watch` ends, and with which exit code.

Pure: a view of the run in, an exit code out.
"""

from enum import StrEnum

from planning.runs import phases
from planning.runs.phases import Phase
from planning.runs.views import RunView
from starter.failures import ExitCode


class Until(StrEnum):
    """How far a run is watched."""

    GATE = "gate"
    """Until its end, or until a person must act or clusters are stuck."""
    SUCCEEDED = "succeeded"
    """Until its end; only success counts as success."""
    FINISHED = "finished"
    """Until its end; any end counts as success."""


def exit_code(view: RunView, until: Until) -> ExitCode | None:
    """Return the exit code of the command, or None if it should keep watching."""
    if view.phase in phases.ENDED:
        good = view.phase is Phase.SUCCEEDED or until is Until.FINISHED
        return ExitCode.DONE if good else ExitCode.FAILED
    return _held_up(view) if until is Until.GATE else None


def _held_up(view: RunView) -> ExitCode | None:
    """Return the exit code for why the run makes no progress by itself, or None if it does."""
    if view.to_be_started:
        return ExitCode.STOPPED
    if view.gates.approvals:
        return ExitCode.GATE
    return ExitCode.STUCK if view.phase is Phase.STUCK else None
