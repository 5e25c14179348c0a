"""Runs of any size and progress, without a hub."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from api.base import Condition, ObjectMeta
from api.reasons import ConditionType, RunReason, StageReason
from api.runs import (
    ClusterStagedUpdateRun,
    ClusterStatus,
    RunState,
    StageStatus,
    StageTaskStatus,
    UpdateRun,
    UpdateRunSpec,
    UpdateRunStatus,
)
from api.strategies import Stage, StageTask, StageTaskType, StrategySpec
from tests.support.conditions import condition

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
"""The time at which the tests look at the runs."""


@dataclass(frozen=True)
class MadeStage:
    """A stage and how far it is."""

    took: Sequence[int] = ()
    """Duration in seconds of each cluster that is done."""
    in_flight: Sequence[int] = ()
    """Seconds since the start of each cluster in flight."""
    ahead: int = 0
    at_once: int | str = 1
    wait: str = ""
    approvals: int = 0
    """Number of approvals that it needs, at most one before and one after."""
    approved: int = 0
    """Number of them that are given."""

    def status(self, name: str) -> StageStatus:
        """Return its entry in a run's status."""
        done = [[_since(each + 1, "Started"), _since(1, "Succeeded")] for each in self.took]
        flying = [[_since(each, "Started")] for each in self.in_flight]
        conditions = [*done, *flying, *([] for _ in range(self.ahead))]
        clusters = [
            ClusterStatus(cluster_name=f"{name}-{number}", conditions=each)
            for number, each in enumerate(conditions)
        ]
        tasks = [self._task(number) for number in range(self.approvals)]
        return StageStatus(
            stage_name=name,
            clusters=clusters,
            before_stage_task_status=tasks[:1],
            after_stage_task_status=tasks[1:] + self._waits(),
            conditions=self._conditions(),
        )

    def _task(self, number: int) -> StageTaskStatus:
        given = ["ApprovalRequestCreated", "ApprovalRequestApproved"] * (number < self.approved)
        return StageTaskStatus(
            type=StageTaskType.APPROVAL,
            approval_request_name=f"request-{number}",
            conditions=[_since(1, kind) for kind in given],
        )

    def _waits(self) -> list[StageTaskStatus]:
        return [StageTaskStatus(type=StageTaskType.TIMED_WAIT)] if self.wait else []

    def _conditions(self) -> list[Condition]:
        if self.in_flight or (self.took and self.ahead):
            return [_since(1, ConditionType.PROGRESSING, reason=StageReason.STARTED)]
        if self.took and not self.wait and self.approvals == self.approved:
            return [_since(1, ConditionType.SUCCEEDED, reason=StageReason.SUCCEEDED)]
        return []

    def declared(self, name: str) -> Stage:
        """Return its entry in the strategy."""
        approval = StageTask(type=StageTaskType.APPROVAL)
        wait = StageTask(type=StageTaskType.TIMED_WAIT, wait_time=self.wait)
        return Stage(
            name=name,
            max_concurrency=self.at_once,
            before_stage_tasks=[approval] * min(self.approvals, 1),
            after_stage_tasks=[approval] * (self.approvals - 1) + [wait] * bool(self.wait),
        )


def made_run(*stages: MadeStage, reason: str = RunReason.PROGRESSING) -> UpdateRun:
    """Make a run of these stages."""
    named = {f"stage{number}": stage for number, stage in enumerate(stages)}
    return ClusterStagedUpdateRun(
        metadata=ObjectMeta(name="made", creation_timestamp=NOW - timedelta(minutes=5)),
        spec=UpdateRunSpec(
            placement_name="p", staged_rollout_strategy_name="s", state=RunState.RUN
        ),
        status=UpdateRunStatus(
            staged_update_strategy_snapshot=StrategySpec(
                stages=[stage.declared(name) for name, stage in named.items()]
            ),
            stages_status=[stage.status(name) for name, stage in named.items()],
            conditions=[
                _since(9, ConditionType.INITIALIZED),
                _since(9, ConditionType.PROGRESSING, reason=reason),
            ],
        ),
    )


def _since(seconds: int, kind: str, *, reason: str = "Because") -> Condition:
    at = NOW - timedelta(seconds=seconds)
    return Condition.from_wire(condition(kind, reason=reason, at=at))
