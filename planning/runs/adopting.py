"""Adopting a run: resuming it from its status when Temporal has lost its workflow.

The status is all that is left, so it is read conservatively. Whatever it does not record counts as
not done: a cluster is updated again, which changes nothing on one that already has the content, and
a gate is opened again, which passes at once if the hub has its approval. Beyond that only the order
of the entries can be wrong. A status out of order was not written by the engine, and ends the run.

The engine writes a status oldest change first. So a stage may be recorded as done before all of its
clusters are, but nothing of a later stage is recorded before everything of the earlier ones. Only
what people decide about single clusters may be recorded before or after its stage.

contract: update-runs 8, 9 and 10
"""

from dataclasses import dataclass
from datetime import datetime

from api.base import Condition
from api.reasons import ConditionType, RunReason
from api.runs import ClusterStatus, RunState, StageStatus, StageTaskStatus, UpdateRunStatus
from api.strategies import Stage
from planning import conditions, failures
from planning.errors import RunError
from planning.runs import concurrency, gates, phases
from planning.runs.facts import HubFacts
from planning.runs.gates import Side
from planning.runs.ledger import DELETION, all_stages, stage_of


@dataclass(frozen=True, slots=True)
class Recalled:
    """Progress of a run when its workflow was lost."""

    stage: int
    """Index of the current stage."""
    waiting: Side | None
    """Side of that stage whose gates the run was waiting for; None if it was not waiting."""
    waiting_since: datetime | None
    """When the gates after the stage opened; None on the other side."""
    in_flight: dict[str, datetime]
    """Clusters that were being updated or removed, with their start times."""
    desired: RunState
    """Desired state as the lost workflow knew it."""

    @property
    def begun(self) -> bool:
        """True when the current stage had clusters in flight or open gates."""
        return bool(self.in_flight) or self.waiting is not None


def recall(status: UpdateRunStatus, facts: HubFacts) -> Recalled:
    """Read a run's progress from its status.

    Raises:
        RunAborted: the status was not written by the engine, or is incomplete.
    """
    _check_whole(status)
    stage = at_work(status)
    _check_order(status, stage)
    stage = _resumed_at(status, stage)
    found = Recalled(
        stage=stage,
        waiting=(waiting := _waiting(stage_of(status, stage))),
        waiting_since=gates.all_updated_at(stage_of(status, stage)) if waiting == "after" else None,
        in_flight=phases.in_flight(stage_of(status, stage)),
        desired=_desired(status),
    )
    _check_state(facts, status)
    return found


def at_work(status: UpdateRunStatus) -> int:
    """Return the index of the first stage that is not done; the deletion stage is the last."""
    open_stages = (each for each, stage in enumerate(status.stages_status) if not is_done(stage))
    return next(open_stages, DELETION)


def due_again(status: UpdateRunStatus) -> int | None:
    """Return the index of the first stage with clusters to be handed out again; None without one.

    For the end of a run, when all stages are done: until then a stage may still take them itself.
    """
    stages = enumerate(status.stages_status)
    return next((index for index, each in stages if any(map(_is_open, each.clusters))), None)


def is_done(stage: StageStatus) -> bool:
    """Return whether a stage has nothing left to do; its own condition alone does not prove it.

    Clusters that a person has handed out again after the stage are the run's, not the stage's.
    """
    return (
        conditions.has(stage.conditions, ConditionType.SUCCEEDED)
        and all(map(_is_dealt_with, stage.clusters))
        and (not stage.clusters or all(map(gates.is_passed, _tasks(stage))))
    )


def has_begun(stage: StageStatus) -> bool:
    """Return whether the run has done anything in a stage."""
    return bool(
        stage.conditions
        or any(map(phases.is_touched, stage.clusters))
        or any(each.conditions for each in _tasks(stage))
    )


def open_clusters(stage: StageStatus) -> list[int]:
    """Return the positions of the clusters that the run waits for, those in flight first."""
    clusters = stage.clusters
    positions = [each for each, found in enumerate(clusters) if _is_open(found)]
    return sorted(positions, key=lambda each: not phases.is_touched(clusters[each]))


def failed_clusters(stage: StageStatus) -> list[int]:
    """Return the positions of the clusters that timed out, which may still be updated."""
    return [each for each, found in enumerate(stage.clusters) if phases.has_failed(found)]


# -- where the run was -----------------------------------------------------------------------


def _resumed_at(status: UpdateRunStatus, stage: int) -> int:
    """Return the stage to resume: after all of them, that of clusters being handed out again."""
    if stage != DELETION or has_begun(stage_of(status, DELETION)):
        return stage
    again = (index for index, each in enumerate(status.stages_status) if phases.in_flight(each))
    return next(again, DELETION)


def _waiting(stage: StageStatus) -> Side | None:
    before = stage.before_stage_task_status
    if not all(map(gates.is_passed, before)):
        # Even if the run goes without any of its clusters by then.
        return "before" if _is_asked(before) else None
    if stage.clusters and all(map(phases.is_settled, stage.clusters)):
        return "after"
    is_over = all(map(_is_dealt_with, stage.clusters))
    return "after" if is_over and _is_asked(stage.after_stage_task_status) else None


def _desired(status: UpdateRunStatus) -> RunState:
    progressing = conditions.find(status.conditions, ConditionType.PROGRESSING)
    if progressing is None:
        return RunState.INITIALIZE
    halted = progressing.reason in (RunReason.STOPPING, RunReason.STOPPED)
    return RunState.STOP if halted else RunState.RUN


# -- checking the status ----------------------------------------------------------------------


def _check_whole(status: UpdateRunStatus) -> None:
    strategy = status.staged_update_strategy_snapshot
    if strategy is None:
        raise _not_ours("the updateRun has nil updateStrategySnapshot")
    if status.deletion_stage_status is None:
        raise _not_ours("the updateRun has nil deletionStageStatus")
    if status.applied_strategy is None or not status.resource_snapshot_index_used:
        raise _not_ours("the updateRun has no apply strategy or no resource snapshot index")
    stages = status.stages_status
    if len(stages) != len(strategy.stages):
        raise _not_ours(
            f"the number of stages in the updateRun has changed, new: {len(strategy.stages)}, "
            f"existing: {len(stages)}"
        )
    for index, (stage, declared) in enumerate(zip(stages, strategy.stages, strict=True)):
        _check_declared(index, stage, declared)
    _check_named_once(status)


def _check_declared(index: int, stage: StageStatus, declared: Stage) -> None:
    if stage.stage_name != declared.name:
        raise _not_ours(
            f"index `{index}` stage name in the updateRun has changed, "
            f"new: {declared.name}, existing: {stage.stage_name}"
        )
    recorded = [each.type for each in _tasks(stage)]
    if recorded != [each.type for each in declared.before_stage_tasks + declared.after_stage_tasks]:
        raise _not_ours(f"the tasks of stage `{stage.stage_name}` are not those of its strategy")


def _check_named_once(status: UpdateRunStatus) -> None:
    seen: dict[str, None] = {}
    for cluster in (each for stage in all_stages(status) for each in stage.clusters):
        if cluster.cluster_name in seen:
            raise _not_ours(f"cluster `{cluster.cluster_name}` appears in more than one stages")
        seen[cluster.cluster_name] = None


def _check_order(status: UpdateRunStatus, at: int) -> None:
    """Check that nothing failed, nothing started too early, and the limits were kept."""
    _check_nothing_failed(status)
    stage = stage_of(status, at)
    if at != DELETION:
        _check_later_stages(status, at)
        _check_gates(stage)
        strategy = status.staged_update_strategy_snapshot
        assert strategy is not None, "checked before"
        _check_limit(stage, strategy.stages[at])


def _check_nothing_failed(status: UpdateRunStatus) -> None:
    for stage in all_stages(status):
        if failed := _failure(stage.conditions):
            raise failures.STAGE_HAD_FAILED.error(stage=stage.stage_name, error=failed.message)
        for cluster in stage.clusters:
            if _failure(cluster.conditions) and not phases.is_settled(cluster):
                raise failures.CLUSTER_HAD_FAILED.error(
                    cluster=cluster.cluster_name, stage=stage.stage_name
                )


def _check_later_stages(status: UpdateRunStatus, at: int) -> None:
    for index, stage in enumerate(status.stages_status[at + 1 :], start=at + 1):
        if has_begun(stage):
            raise _not_ours(f"the finished stage `{index}` is after the updating stage `{at}`")
    if has_begun(stage_of(status, DELETION)):
        raise _not_ours(
            "the delete stage is active, but there are still stages updating, "
            f"updatingStageIndex: {at}, lastFinishedStageIndex: {at - 1}"
        )


def _check_gates(stage: StageStatus) -> None:
    name = stage.stage_name
    started = [each for each in stage.clusters if phases.is_touched(each)]
    if started and not all(map(gates.is_passed, stage.before_stage_task_status)):
        raise _not_ours(
            f"cluster `{started[0].cluster_name}` in the stage `{name}` was started before the "
            "approval of the stage"
        )
    touched = any(each.conditions for each in stage.after_stage_task_status)
    if touched and not all(map(_is_dealt_with, stage.clusters)):
        raise _not_ours(f"the tasks after the stage `{name}` began before its clusters were done")


def _check_limit(stage: StageStatus, declared: Stage) -> None:
    limit = concurrency.limit(declared.max_concurrency, clusters=len(stage.clusters))
    if (flying := len(phases.in_flight(stage))) > limit:
        raise _not_ours(
            f"the number of updating clusters `{flying}` in the updating stage "
            f"`{stage.stage_name}` exceeds maxConcurrency `{limit}`"
        )


def _check_state(facts: HubFacts, status: UpdateRunStatus) -> None:
    if facts.spec.state is RunState.INITIALIZE and any(map(has_begun, all_stages(status))):
        raise _not_ours("the updateRun was never started, but its status says that it was")


def _not_ours(problem: str) -> RunError:
    return failures.NOT_RESUMABLE.error(problem=problem)


# -- helpers ----------------------------------------------------------------------------------


def _tasks(stage: StageStatus) -> list[StageTaskStatus]:
    return stage.before_stage_task_status + stage.after_stage_task_status


def _is_asked(tasks: list[StageTaskStatus]) -> bool:
    return any(gates.KINDS[each.type].is_opened(each) for each in tasks)


def _is_open(cluster: ClusterStatus) -> bool:
    return not phases.is_settled(cluster)


def _is_dealt_with(cluster: ClusterStatus) -> bool:
    """Return whether a stage is over for a cluster: it is settled, or handed out again."""
    return phases.is_settled(cluster) or phases.is_retried(cluster)


def _failure(found: list[Condition]) -> Condition | None:
    succeeded = conditions.find(found, ConditionType.SUCCEEDED)
    return succeeded if succeeded and succeeded.status == "False" else None
