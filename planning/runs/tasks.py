"""Tasks before and after a stage: which are allowed, and the names of their approval requests.

contract: update-runs 4, 7.5 a, b and g
"""

from datetime import timedelta
from enum import StrEnum
from typing import Final, Literal

from api.reasons import ConditionType
from api.runs import StageTaskStatus
from api.strategies import Stage, StageTask, StageTaskType
from api.texts import Text
from planning import conditions, durations

Side = Literal["before", "after"]


class GateSide(StrEnum):
    """Side of a gate: before or after its stage."""

    BEFORE = "before"
    AFTER = "after"


WAIT_TIMER: Final = Text("{stage}: wait {length} after the stage")
"""Summary of the timer of a timed wait, as Temporal shows it."""
_UNITS_BELOW_A_SECOND: Final = ("ns", "µs", "ms")


def before_problem(tasks: list[StageTask]) -> str | None:
    """Return what is wrong with the tasks before a stage, or None."""
    if len(tasks) > 1:
        return "beforeStageTasks can have at most one task"
    for position, task in enumerate(tasks):
        if task.type != StageTaskType.APPROVAL:
            return (
                f"task {position} of type {task.type} is not allowed in beforeStageTasks, "
                "allowed type: Approval"
            )
        if task.wait_time is not None:
            return f"task {position} of type Approval cannot have wait duration set"
    return None


def after_problem(tasks: list[StageTask]) -> str | None:
    """Return what is wrong with the tasks after a stage, or None."""
    types = [task.type for task in tasks]
    if len(types) == 2 and types[0] == types[1]:
        return f"afterStageTasks cannot have two tasks of the same type: {types[0]}"
    for position, task in enumerate(tasks):
        if task.type == StageTaskType.TIMED_WAIT and (problem := _wait_problem(task.wait_time)):
            return f"task {position} of type TimedWait has {problem}"
    return None


def _wait_problem(wait_time: str | None) -> str | None:
    if wait_time is None:
        return "wait duration set to nil"
    try:
        return "wait duration <= 0" if durations.parse(wait_time) <= timedelta(0) else None
    except ValueError as error:
        return f"an invalid wait duration: {error}"


def approval_name(run: str, side: Side, stage: str) -> str:
    """Return the name of the approval request on one side of a stage."""
    return f"{run}-{side}-{stage}"


def entries(tasks: list[StageTask], *, run: str, side: Side, stage: str) -> list[StageTaskStatus]:
    """Return status entries for tasks that have not started."""
    return [
        StageTaskStatus(type=task.type, approval_request_name=approval_name(run, side, stage))
        if task.type == StageTaskType.APPROVAL
        else StageTaskStatus(type=task.type)
        for task in tasks
    ]


def is_passed(task: StageTaskStatus) -> bool:
    """Return whether the gate has been passed."""
    passed = (ConditionType.APPROVAL_REQUEST_APPROVED, ConditionType.WAIT_TIME_ELAPSED)
    return any(conditions.has(task.conditions, kind) for kind in passed)


def normalized(stage: Stage) -> Stage:
    """Return the stage as a run's status records it: waits in Go's format, none on approvals."""
    sides = {
        "before_stage_tasks": _normalized(stage.before_stage_tasks),
        "after_stage_tasks": _normalized(stage.after_stage_tasks),
    }
    return stage.model_copy(update={side: tasks for side, tasks in sides.items() if tasks})


def _normalized(tasks: list[StageTask]) -> list[StageTask]:
    return [task.model_copy(update={"wait_time": _go_form(task)}) for task in tasks]


def _go_form(task: StageTask) -> str | None:
    if task.type == StageTaskType.APPROVAL or task.wait_time is None:
        return None
    try:
        written = durations.format_duration(durations.parse(task.wait_time))
    except ValueError:
        return task.wait_time  # for `after_problem` to reject
    # Go prints less than a second as 500ms, which the API rejects in a status: KubeFleet cannot
    # initialize such a run.
    return task.wait_time if written.endswith(_UNITS_BELOW_A_SECOND) else written
