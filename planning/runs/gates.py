"""The gates that a run waits at: approvals and timed waits.

Pure: a status in, gates out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from api.reasons import ConditionType
from api.runs import StageStatus, StageTaskStatus, UpdateRunStatus
from api.strategies import StageTaskType
from planning import conditions, durations
from planning.runs import phases
from planning.runs.facts import Fact
from planning.runs.tasks import GateSide


class PendingApproval(Fact):
    """An approval that a run waits for."""

    stage: str
    side: GateSide
    request: str
    """Name of the (Cluster)ApprovalRequest."""
    since: datetime | None = None
    """When it was requested; None if that is not known."""

    def __str__(self) -> str:
        return f"approval {self.side} stage {self.stage}"


@dataclass(frozen=True, slots=True)
class Wait:
    """A gate that opens after some time."""

    stage: str
    length: timedelta
    since: datetime

    def left(self, now: datetime) -> timedelta:
        """Return the time until it opens; never negative."""
        return max(self.since + self.length - now, timedelta(0))


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates that are closed now, in the order of the stages."""

    approvals: tuple[PendingApproval, ...] = ()
    waits: tuple[Wait, ...] = ()
    approved: int = 0
    """Number of approvals that were given and accepted so far."""


def closed(status: UpdateRunStatus) -> Gates:
    """Return the gates that a run waits at; none once it has ended."""
    if phases.has_ended(status):
        return Gates()
    stages = status.stages_status
    return Gates(
        approvals=tuple(gate for stage in stages for gate in _approvals(stage)),
        waits=tuple(gate for stage in stages for gate in _waits(status, stage)),
        approved=sum(_is_approved(task) for stage in stages for _, task in _tasks(stage)),
    )


def _approvals(stage: StageStatus) -> Iterator[PendingApproval]:
    for side, task in _tasks(stage):
        asked = conditions.find(task.conditions, ConditionType.APPROVAL_REQUEST_CREATED)
        if asked and asked.status == "True" and not _is_approved(task):
            yield PendingApproval(
                stage=stage.stage_name,
                side=side,
                request=task.approval_request_name,
                since=asked.last_transition_time,
            )


def _tasks(stage: StageStatus) -> Iterator[tuple[GateSide, StageTaskStatus]]:
    yield from ((GateSide.BEFORE, task) for task in stage.before_stage_task_status)
    yield from ((GateSide.AFTER, task) for task in stage.after_stage_task_status)


def _is_approved(task: StageTaskStatus) -> bool:
    return conditions.has(task.conditions, ConditionType.APPROVAL_REQUEST_APPROVED)


def _waits(status: UpdateRunStatus, stage: StageStatus) -> Iterator[Wait]:
    since = _all_updated_at(stage)
    length = _wait_time(status, stage.stage_name)
    if since is None or length is None:
        return
    for task in stage.after_stage_task_status:
        over = conditions.has(task.conditions, ConditionType.WAIT_TIME_ELAPSED)
        if task.type == StageTaskType.TIMED_WAIT and not over:
            yield Wait(stage.stage_name, length, since)


def _all_updated_at(stage: StageStatus) -> datetime | None:
    # Not the stage's Progressing condition: that one changes when the run is stopped, while a
    # timed wait continues (contract decision 5).
    done = [conditions.find(each.conditions, ConditionType.SUCCEEDED) for each in stage.clusters]
    moments = [each.last_transition_time for each in done if each and each.status == "True"]
    return max(moments) if moments and len(moments) == len(stage.clusters) else None


def _wait_time(status: UpdateRunStatus, stage: str) -> timedelta | None:
    strategy = status.staged_update_strategy_snapshot
    texts = (
        task.wait_time
        for each in (strategy.stages if strategy else [])
        if each.name == stage
        for task in each.after_stage_tasks
        if task.type == StageTaskType.TIMED_WAIT
    )
    text = next(texts, None)
    return durations.parse(text) if text else None
