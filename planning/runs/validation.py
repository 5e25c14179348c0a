"""Validation: whether a run in progress may continue after something it depends on has changed.

contract: update-runs 9; decision 8 says when it is checked
"""

from api.applying import ApplyStrategy
from api.reasons import ConditionType
from api.rollout_policies import OnRemoved
from api.runs import StageStatus, UpdateRunStatus
from api.strategies import StrategySpec
from planning import conditions, failures
from planning.identity import RunRef
from planning.runs import initialization, membership, stages
from planning.runs.facts import Fact, HubFacts
from planning.runs.initialization import Targets
from planning.runs.membership import Changes
from planning.runs.rules import NO_RULES, RunRules


class Checked(Fact):
    """What a check found of a run that may continue."""

    targets: Targets
    """The current bindings."""
    changes: Changes = Changes()
    """Clusters that left or joined, as far as the rules allow that."""


def check(
    facts: HubFacts, *, run: RunRef, status: UpdateRunStatus, rules: RunRules = NO_RULES
) -> Checked:
    """Compare the plan with what would be planned now.

    Raises:
        RunAborted, InitializationError: the run has to end; the text says why.
        StageAborted: likewise, and the deletion stage is the cause (contract: 8.8).
        TransientState: retry soon.
    """
    _check_placement(facts, status)
    if membership.is_fixed(rules):
        return _check_exactly(facts, run=run, status=status, rules=rules)
    targets = _there(facts, run=run, status=status, rules=rules)
    current = _stages_now(facts, targets, run=run, status=status)
    _check_names(current, status.stages_status)
    changes = membership.changes(status, current, facts=facts, selected=targets.selected)
    if not membership.allows(rules, changes) or _is_picked_again(targets, status):
        return _check_exactly(facts, run=run, status=status, rules=rules)
    missing = [each.cluster for each in changes.joined if not each.stage]
    stages.check_unassigned(missing, of=len(targets.selected), rules=rules)
    _check_deletion(facts, list(targets.leaving), status)
    return Checked(targets=targets, changes=changes)


def _check_exactly(
    facts: HubFacts, *, run: RunRef, status: UpdateRunStatus, rules: RunRules
) -> Checked:
    """Check that exactly the same would be planned now."""
    scratch = UpdateRunStatus()
    policy = initialization.inspect_policy(facts, run=run, status=scratch)
    _check_policy(scratch, status)
    targets = initialization.inspect_bindings(
        facts, policy, run=run, status=scratch, none_is_fine=_only_deletes(status)
    )
    initialization.assign_stages(
        facts, _strategy(status), targets, run=run, status=scratch, rules=rules
    )
    _check_stages(scratch.stages_status, status.stages_status)
    _check_deletion(facts, list(targets.leaving), status)
    current, selected = scratch.stages_status, targets.selected
    return Checked(
        targets=targets,
        changes=membership.changes(status, current, facts=facts, selected=selected),
    )


def _check_placement(facts: HubFacts, status: UpdateRunStatus) -> None:
    scratch = UpdateRunStatus()
    initialization.inspect_placement(facts.placement, status=scratch)
    if scratch.applied_strategy != status.applied_strategy:
        raise failures.APPLY_STRATEGY_CHANGED.error(
            latest=_as_json(scratch.applied_strategy), recorded=_as_json(status.applied_strategy)
        )


def _there(facts: HubFacts, *, run: RunRef, status: UpdateRunStatus, rules: RunRules) -> Targets:
    """Return the bindings that there are of clusters that the run updates or removes.

    A cluster that left is not in the deletion stage; the next run removes what it has.
    """
    policy = initialization.latest_policy(facts, run=run)
    initialization.check_scheduler_done(policy, run=run)
    skips = rules.removed is OnRemoved.SKIP
    if not (policy.scheduled or skips):
        raise failures.POLICY_NOT_SCHEDULED.error(snapshot=policy.name)
    found = initialization.targets_of(facts, policy, deleting=not skips)
    planned = _deleted(status)
    leaving = {name: each for name, each in found.leaving.items() if name in planned}
    return found.model_copy(update={"leaving": leaving})


def _stages_now(
    facts: HubFacts, targets: Targets, *, run: RunRef, status: UpdateRunStatus
) -> list[StageStatus]:
    return stages.assign(
        _strategy(status),
        run=run.name,
        reference=run.key(facts.spec.staged_rollout_strategy_name),
        clusters=facts.clusters,
        selected=targets.selected,
    )


def _strategy(status: UpdateRunStatus) -> StrategySpec:
    if status.staged_update_strategy_snapshot is None:
        raise failures.STATUS_WITHOUT_PART.error(part="updateStrategySnapshot")
    return status.staged_update_strategy_snapshot


def _is_picked_again(targets: Targets, status: UpdateRunStatus) -> bool:
    """Return whether a cluster that the run is to remove is to be updated now."""
    return any(each in targets.selected for each in _deleted(status))


def _deleted(status: UpdateRunStatus) -> list[str]:
    stage = status.deletion_stage_status
    return [each.cluster_name for each in stage.clusters] if stage else []


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


def _check_names(new: list[StageStatus], old: list[StageStatus]) -> None:
    if len(new) != len(old):
        raise failures.STAGE_COUNT_CHANGED.error(new=len(new), existing=len(old))
    for index, (latest, recorded) in enumerate(zip(new, old, strict=True)):
        _check_name(index, latest, recorded)


def _check_name(index: int, new: StageStatus, old: StageStatus) -> None:
    if new.stage_name != old.stage_name:
        raise failures.STAGE_NAME_CHANGED.error(
            index=index, new=new.stage_name, existing=old.stage_name
        )


def _check_stages(new: list[StageStatus], old: list[StageStatus]) -> None:
    if len(new) != len(old):
        raise failures.STAGE_COUNT_CHANGED.error(new=len(new), existing=len(old))
    for index, (latest, recorded) in enumerate(zip(new, old, strict=True)):
        _check_name(index, latest, recorded)
        _check_stage(index, latest, recorded)


def _check_stage(index: int, new: StageStatus, old: StageStatus) -> None:
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
