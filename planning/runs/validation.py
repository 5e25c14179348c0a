"""Validation: whether a run in progress may continue after something it depends on has changed.

contract: update-runs 9; decision 8 says when it is checked
"""

from api.applying import ApplyStrategy
from api.reasons import ConditionType
from api.runs import StageStatus, UpdateRunStatus
from planning import conditions, failures
from planning.identity import RunRef
from planning.runs import initialization
from planning.runs.facts import HubFacts


def check(facts: HubFacts, *, run: RunRef, status: UpdateRunStatus) -> initialization.Targets:
    """Compare the plan with what would be planned now; return the current bindings.

    Raises:
        RunAborted, InitializationError: the run has to end; the text says why.
        StageAborted: likewise, and the deletion stage is the cause (contract: 8.8).
        TransientState: retry soon.
    """
    scratch = UpdateRunStatus()
    initialization.inspect_placement(facts.placement, status=scratch)
    if scratch.applied_strategy != status.applied_strategy:
        raise failures.APPLY_STRATEGY_CHANGED.error(
            latest=_as_json(scratch.applied_strategy), recorded=_as_json(status.applied_strategy)
        )
    policy = initialization.inspect_policy(facts, run=run, status=scratch)
    _check_policy(scratch, status)
    targets = initialization.inspect_bindings(
        facts, policy, run=run, status=scratch, none_is_fine=_only_deletes(status)
    )
    strategy = status.staged_update_strategy_snapshot
    if strategy is None:
        raise failures.STATUS_WITHOUT_PART.error(part="updateStrategySnapshot")
    initialization.assign_stages(facts, strategy, targets, run=run, status=scratch)
    _check_stages(scratch.stages_status, status.stages_status)
    _check_deletion(facts, list(targets.leaving), status)
    return targets


def _only_deletes(status: UpdateRunStatus) -> bool:
    # KubeFleet fails such a run once it has deleted its last binding (contract decision 15).
    return not any(stage.clusters for stage in status.stages_status)


def _check_policy(new: UpdateRunStatus, old: UpdateRunStatus) -> None:
    if new.policy_snapshot_index_used != old.policy_snapshot_index_used:
        raise failures.POLICY_CHANGED.error(
            latest=new.policy_snapshot_index_used, recorded=old.policy_snapshot_index_used
        )
    latest, recorded = new.policy_observed_cluster_count, old.policy_observed_cluster_count
    if latest not in (initialization.UNKNOWN_COUNT, recorded):
        raise failures.CLUSTER_COUNT_CHANGED.error(latest=latest, recorded=recorded)


def _check_stages(new: list[StageStatus], old: list[StageStatus]) -> None:
    if len(new) != len(old):
        raise failures.STAGE_COUNT_CHANGED.error(new=len(new), existing=len(old))
    for index, (latest, recorded) in enumerate(zip(new, old, strict=True)):
        _check_stage(index, latest, recorded)


def _check_stage(index: int, new: StageStatus, old: StageStatus) -> None:
    if new.stage_name != old.stage_name:
        raise failures.STAGE_NAME_CHANGED.error(
            index=index, new=new.stage_name, existing=old.stage_name
        )
    if len(new.clusters) != len(old.clusters):
        raise failures.STAGE_SIZE_CHANGED.error(
            stage=index, new=len(new.clusters), existing=len(old.clusters)
        )
    for position, (latest, recorded) in enumerate(zip(new.clusters, old.clusters, strict=True)):
        if latest.cluster_name != recorded.cluster_name:
            raise failures.CLUSTER_REPLACED.error(
                position=position,
                stage=index,
                new=latest.cluster_name,
                existing=recorded.cluster_name,
            )


def _check_deletion(facts: HubFacts, leaving: list[str], status: UpdateRunStatus) -> None:
    if status.deletion_stage_status is None:
        raise failures.STATUS_WITHOUT_PART.error(part="deletionStageStatus")
    planned = {each.cluster_name: each for each in status.deletion_stage_status.clusters}
    for cluster in leaving:
        if cluster not in planned:
            raise failures.CLUSTER_NOT_PICKED.error(cluster=cluster)
    for cluster in leaving:
        if conditions.has(planned[cluster].conditions, ConditionType.SUCCEEDED):
            raise failures.DELETED_CLUSTER_BOUND.error(cluster=cluster)
        if conditions.has(planned[cluster].conditions, ConditionType.STARTED):
            _check_deleting(facts, cluster)


def _check_deleting(facts: HubFacts, cluster: str) -> None:
    # A binding that is not being deleted yet may be soon. One next to another that is being
    # deleted was created since.
    bindings = [each for each in facts.bindings if each.cluster == cluster]
    if len({each.deleting for each in bindings}) > 1:
        raise failures.BINDING_NOT_DELETING.error(cluster=cluster)


def _as_json(strategy: ApplyStrategy | None) -> str:
    return strategy.model_dump_json(by_alias=True, exclude_none=True) if strategy else "none"
