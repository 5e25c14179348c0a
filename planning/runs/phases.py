"""The phase of a run, and its current stage.

contract: update-runs 5
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

from api.base import Condition
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


DECIDING: Final = (ConditionType.SUCCEEDED, ConditionType.PROGRESSING, ConditionType.INITIALIZED)
"""Conditions of a run, from the most to the least advanced."""


def phase(status: UpdateRunStatus) -> Phase:
    """Return the phase of a run, by its conditions."""
    return _phase({each.type: (each.status, each.reason) for each in status.conditions})


def has_ended(status: UpdateRunStatus) -> bool:
    """Return whether a run has succeeded or failed, so that nothing can change any more."""
    return phase(status) in ENDED


def body_has_ended(run: Mapping[str, Any]) -> bool:
    """Do the same for a run as it is on the wire, which is a hundred times as fast."""
    found = run.get("status", {}).get("conditions", [])
    return _phase({each["type"]: (each["status"], each["reason"]) for each in found}) in ENDED


def _phase(current: Mapping[str, tuple[str, str]]) -> Phase:
    """Return the phase by the status and the reason of each condition."""
    if ConditionType.INITIALIZED not in current:
        return Phase.PENDING
    if current[ConditionType.INITIALIZED][0] == "False":
        return Phase.FAILED
    if succeeded := current.get(ConditionType.SUCCEEDED):
        return Phase.SUCCEEDED if succeeded[0] == "True" else Phase.FAILED
    if ConditionType.PROGRESSING not in current:
        return Phase.PLANNED
    return _BY_REASON.get(current[ConditionType.PROGRESSING][1], Phase.RUNNING)


def deciding(status: UpdateRunStatus) -> Condition | None:
    """Return the most advanced condition of a run; None before it is planned."""
    found = (conditions.find(status.conditions, kind) for kind in DECIDING)
    return next((each for each in found if each), None)


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
