"""Validation: whether a run in progress may continue after something it depends on has changed.

contract: update-runs 9; decision 8 says when it is checked
"""

from api.reasons import ConditionType
from api.runs import StageStatus, UpdateRunStatus
from planning import conditions
from planning.errors import abort, abort_stage, unexpected, user
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
        raise abort(
            user(
                "the applyStrategy in the updateRun is outdated, "
                f"latest: {scratch.applied_strategy!r}, recorded: {status.applied_strategy!r}"
            )
        )
    policy = initialization.inspect_policy(facts, run=run, status=scratch)
    _check_policy(scratch, status)
    targets = initialization.inspect_bindings(
        facts, policy, run=run, status=scratch, none_is_fine=_only_deletes(status)
    )
    strategy = status.staged_update_strategy_snapshot
    if strategy is None:
        raise abort(unexpected("the updateRun has nil updateStrategySnapshot"))
    initialization.assign_stages(facts, strategy, targets, run=run, status=scratch)
    _check_stages(scratch.stages_status, status.stages_status)
    _check_deletion(facts, list(targets.leaving), status)
    return targets


def _only_deletes(status: UpdateRunStatus) -> bool:
    # KubeFleet fails such a run once it has deleted its last binding (contract decision 15).
    return not any(stage.clusters for stage in status.stages_status)


def _check_policy(new: UpdateRunStatus, old: UpdateRunStatus) -> None:
    if new.policy_snapshot_index_used != old.policy_snapshot_index_used:
        raise abort(
            "the policy snapshot index used in the updateRun is outdated, "
            f"latest: {new.policy_snapshot_index_used}, "
            f"recorded: {old.policy_snapshot_index_used}"
        )
    latest, recorded = new.policy_observed_cluster_count, old.policy_observed_cluster_count
    if latest not in (initialization.UNKNOWN_COUNT, recorded):
        raise abort(
            "the cluster count initialized in the updateRun is outdated, "
            f"latest: {latest}, recorded: {recorded}"
        )


def _check_stages(new: list[StageStatus], old: list[StageStatus]) -> None:
    if len(new) != len(old):
        raise abort(
            f"the number of stages in the updateRun has changed, new: {len(new)}, "
            f"existing: {len(old)}"
        )
    for index, (latest, recorded) in enumerate(zip(new, old, strict=True)):
        _check_stage(index, latest, recorded)


def _check_stage(index: int, new: StageStatus, old: StageStatus) -> None:
    if new.stage_name != old.stage_name:
        raise abort(
            f"index `{index}` stage name in the updateRun has changed, "
            f"new: {new.stage_name}, existing: {old.stage_name}"
        )
    if len(new.clusters) != len(old.clusters):
        raise abort(
            f"the number of clusters in index `{index}` stage has changed, "
            f"new: {len(new.clusters)}, existing: {len(old.clusters)}"
        )
    for position, (latest, recorded) in enumerate(zip(new.clusters, old.clusters, strict=True)):
        if latest.cluster_name != recorded.cluster_name:
            raise abort(
                f"the `{position}` cluster in the `{index}` stage has changed, "
                f"new: {latest.cluster_name}, existing: {recorded.cluster_name}"
            )


def _check_deletion(facts: HubFacts, leaving: list[str], status: UpdateRunStatus) -> None:
    if status.deletion_stage_status is None:
        raise abort(unexpected("the updateRun has nil deletionStageStatus"))
    planned = {each.cluster_name: each for each in status.deletion_stage_status.clusters}
    for cluster in leaving:
        if cluster not in planned:
            raise abort(
                unexpected(f"the cluster `{cluster}` to be deleted is not in the delete stage")
            )
    for cluster in leaving:
        if conditions.has(planned[cluster].conditions, ConditionType.SUCCEEDED):
            raise abort_stage(
                unexpected(
                    f"the deleted cluster `{cluster}` in the deleting stage still has a binding"
                )
            )
        if conditions.has(planned[cluster].conditions, ConditionType.STARTED):
            _check_deleting(facts, cluster)


def _check_deleting(facts: HubFacts, cluster: str) -> None:
    # A binding that is not being deleted yet may be soon. One next to another that is being
    # deleted was created since.
    bindings = [each for each in facts.bindings if each.cluster == cluster]
    if len({each.deleting for each in bindings}) > 1:
        raise abort_stage(
            unexpected(
                f"the cluster `{cluster}` in the deleting stage is marked as deleting but its "
                "corresponding binding is not deleting"
            )
        )
