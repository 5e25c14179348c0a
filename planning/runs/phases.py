"""The phase of a run, and its current stage.

contract: update-runs 5
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from api.reasons import ConditionType, RunReason
from api.runs import StageStatus, UpdateRunStatus
from planning import conditions


class Phase(StrEnum):
    """Phase of a run, in one word."""

    PENDING = "pending"
    """Not planned yet."""
    PLANNED = "planned"
    RUNNING = "running"
    WAITING = "waiting"
    STUCK = "stuck"
    STOPPING = "stopping"
    STOPPED = "stopped"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """Failed while running, or could not be planned."""


ENDED: Final = frozenset({Phase.SUCCEEDED, Phase.FAILED})

_BY_REASON: Final[dict[str, Phase]] = {
    RunReason.WAITING: Phase.WAITING,
    RunReason.STUCK: Phase.STUCK,
    RunReason.STOPPING: Phase.STOPPING,
    RunReason.STOPPED: Phase.STOPPED,
}


def phase(status: UpdateRunStatus) -> Phase:
    """Return the phase of a run, by its conditions."""
    current = {each.type: each for each in status.conditions}
    initialized = current.get(ConditionType.INITIALIZED)
    succeeded = current.get(ConditionType.SUCCEEDED)
    progressing = current.get(ConditionType.PROGRESSING)
    if initialized is None:
        return Phase.PENDING
    if initialized.status == "False":
        return Phase.FAILED
    if succeeded is not None:
        return Phase.SUCCEEDED if succeeded.status == "True" else Phase.FAILED
    if progressing is None:
        return Phase.PLANNED
    return _BY_REASON.get(progressing.reason, Phase.RUNNING)


def stage_name(status: UpdateRunStatus) -> str:
    """Return the stage that is running, comes next, or failed; empty if none is left."""
    return next((stage.stage_name for stage in _stages(status) if not _is_done(stage)), "")


def _stages(status: UpdateRunStatus) -> Iterator[StageStatus]:
    yield from status.stages_status
    deletion = status.deletion_stage_status
    if deletion and deletion.clusters:
        yield deletion


def _is_done(stage: StageStatus) -> bool:
    return conditions.has(stage.conditions, ConditionType.SUCCEEDED)
