"""Metrics from a run's status: label values of the status gauge, and the durations measured.

contract: update-runs 13
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from api.base import Condition, ConditionStatus
from api.reasons import ConditionType, RunReason, StageReason
from api.runs import StageStatus, StageTaskStatus, UpdateRun
from planning import conditions
from planning.errors import USER_ERROR
from planning.runs import phases
from planning.runs.gates import Side

NO_FAILURE: Final = "none"
USER_FAILURE: Final = "user_error"
INTERNAL_FAILURE: Final = "internal_error"

_HELD_UP: Final = frozenset({StageReason.STOPPING, StageReason.STOPPED})

Gate = tuple[int, str]
"""Index of a stage, and `beforeStage` or `afterStage`."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Durations in a run's status, as of one moment."""

    uid: str
    approvals: Mapping[Gate, timedelta]
    """From request to approval, for each gate that was approved."""
    stages: Mapping[int, timedelta]
    """From start to last cluster, for each stage whose clusters are all updated."""
    held_up: frozenset[int]
    """Stages that are stopped, or had clusters handed out again: their duration says nothing."""
    over: bool


def status_labels(run: UpdateRun) -> dict[str, str] | None:
    """Return the labels of the status gauge besides the run's name.

    They come from the most advanced condition whose observed generation is the object's. None if
    there is no such condition.
    """
    found = (conditions.find(run.status.conditions, kind) for kind in phases.DECIDING)
    current = (each for each in found if each and _speaks_of(each, run))
    deciding = next(current, None)
    if deciding is None:
        return None
    return {
        "state": str(run.spec.state),
        "condition": deciding.type,
        "status": str(deciding.status),
        "reason": deciding.reason,
        "failureType": _failure_type(deciding),
    }


def read(run: UpdateRun) -> Reading:
    """Read the durations from a run's status."""
    stages = list(enumerate(run.status.stages_status))
    return Reading(
        uid=run.metadata.uid,
        approvals={
            (index, side): latency for index, stage in stages for side, latency in _latencies(stage)
        },
        stages={
            index: taken for index, stage in stages if (taken := _time_taken(stage)) is not None
        },
        held_up=frozenset(index for index, stage in stages if _is_held_up(stage)),
        over=phases.has_ended(run.status),
    )


def new_approvals(before: Reading, after: Reading) -> list[tuple[str, timedelta]]:
    """Return task type and latency of the approvals given between two readings."""
    return [
        (side, latency)
        for (index, side), latency in after.approvals.items()
        if (index, side) not in before.approvals
    ]


def new_stages(before: Reading, after: Reading) -> list[timedelta]:
    """Return the durations of the stages whose last cluster was updated between two readings.

    A stage that was stopped in between is left out: it was not updating all the time. So is one of
    which clusters were handed out again, perhaps long after its end.
    """
    held_up = before.held_up | after.held_up
    return [
        taken
        for index, taken in after.stages.items()
        if index not in before.stages and index not in held_up
    ]


def _speaks_of(condition: Condition, run: UpdateRun) -> bool:
    return condition.observed_generation == run.metadata.generation


def _failure_type(condition: Condition) -> str:
    if condition.status != ConditionStatus.FALSE:
        return NO_FAILURE
    match condition.reason:
        case RunReason.STUCK:
            return INTERNAL_FAILURE
        case RunReason.FAILED | RunReason.INITIALIZE_FAILED | RunReason.SUPERSEDED:
            return USER_FAILURE if USER_ERROR in condition.message else INTERNAL_FAILURE
    return NO_FAILURE


def _latencies(stage: StageStatus) -> Iterator[tuple[str, timedelta]]:
    for side, tasks in _tasks(stage):
        for task in tasks:
            if (latency := _latency(task)) is not None:
                yield f"{side}Stage", latency


def _tasks(stage: StageStatus) -> tuple[tuple[Side, list[StageTaskStatus]], ...]:
    return ("before", stage.before_stage_task_status), ("after", stage.after_stage_task_status)


def _latency(task: StageTaskStatus) -> timedelta | None:
    created = conditions.find(task.conditions, ConditionType.APPROVAL_REQUEST_CREATED)
    approved = conditions.find(task.conditions, ConditionType.APPROVAL_REQUEST_APPROVED)
    if created is None or approved is None:
        return None
    return _positive(approved.last_transition_time - created.last_transition_time)


def _time_taken(stage: StageStatus) -> timedelta | None:
    done = [conditions.find(each.conditions, ConditionType.SUCCEEDED) for each in stage.clusters]
    ends = [each.last_transition_time for each in done if each and each.status == "True"]
    if not ends or len(ends) < len(done) or stage.start_time is None:
        return None
    # Not the current time: a bridge that was cut off from the hub sees the end late.
    return _positive(max(ends) - stage.start_time)


def _is_held_up(stage: StageStatus) -> bool:
    """Return whether a stage is stopped, or waits for clusters that people handed out again."""
    progressing = conditions.find(stage.conditions, ConditionType.PROGRESSING)
    stopped = progressing is not None and progressing.reason in _HELD_UP
    return stopped or any(map(phases.is_retried, stage.clusters))


def _positive(length: timedelta) -> timedelta:
    # The clock may have been set back in between.
    return max(length, timedelta(0))
