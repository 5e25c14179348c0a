"""When `run watch` ends, and with which exit code.

Pure: a view of the run in, an exit code out.
"""

from enum import StrEnum

from planning.runs import phases
from planning.runs.phases import Phase
from starter.failures import ExitCode
from starter.views import RunView


class Until(StrEnum):
    """How far a run is watched."""

    GATE = "gate"
    """To its end, but no further than where a person must act, or clusters are stuck."""
    SUCCEEDED = "succeeded"
    """To its end, which has to be a good one."""
    FINISHED = "finished"
    """To its end, whichever it is."""


def exit_code(view: RunView, until: Until) -> ExitCode | None:
    """How the command ends, or None while there is more to see."""
    if view.phase in phases.ENDED:
        good = view.phase is Phase.SUCCEEDED or until is Until.FINISHED
        return ExitCode.DONE if good else ExitCode.FAILED
    return _held_up(view) if until is Until.GATE else None


def _held_up(view: RunView) -> ExitCode | None:
    """Return why the run makes no progress by itself, None if it does."""
    if view.to_be_started:
        return ExitCode.STOPPED
    if view.gates.approvals:
        return ExitCode.GATE
    return ExitCode.STUCK if view.phase is Phase.STUCK else None
