"""Initialization: from the hub's facts to the plan of a run, in the order of the contract's steps.

The steps fill the run's status as they go, so that the results of the steps before a failing one
are visible in the object.

contract: update-runs 7
"""

from typing import Final

from pydantic import BaseModel, ConfigDict

from api.bindings import BindingState
from api.names import DELETION_STAGE, NUMBER_OF_CLUSTERS
from api.rollouts import RolloutStrategyType
from api.runs import ClusterStatus, StageStatus, UpdateRunStatus
from api.strategies import StrategySpec
from planning import failures, integers
from planning.errors import InitializationError, TransientState
from planning.identity import RunRef
from planning.overrides.matching import ClusterOverrides
from planning.runs import gates, sizes, stages
from planning.runs.facts import BindingFact, HubFacts, PlacementFact, PolicyFact, SnapshotFacts
from planning.runs.rules import NO_RULES, RunRules

UNKNOWN_COUNT: Final = -1
"""Cluster count of a PickAll policy until its bindings have been counted."""


class Targets(BaseModel):
    """Bindings that a run works on."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    selected: dict[str, str] = {}
    """Cluster to binding, for clusters to be updated; sorted by cluster."""
    leaving: dict[str, str] = {}
    """Cluster to binding, for clusters to be removed; sorted by cluster."""


def plan(
    facts: HubFacts, *, run: RunRef, status: UpdateRunStatus, rules: RunRules = NO_RULES
) -> Targets:
    """Plan everything but the resource snapshot; `status` is filled as far as planning got.

    Raises:
        InitializationError: final; the text goes into the run's condition Initialized.
        TransientState: retry soon; nothing goes into the status.
    """
    policy = _inspect_placement_and_policy(facts, run=run, status=status)
    targets = inspect_bindings(facts, policy, run=run, status=status)
    reference = run.key(facts.spec.staged_rollout_strategy_name)
    if facts.strategy is None:
        raise failures.STRATEGY_MISSING.error(key=reference)
    strategy = StrategySpec(stages=[gates.normalized(stage) for stage in facts.strategy.stages])
    status.staged_update_strategy_snapshot = strategy
    assign_stages(facts, strategy, targets, run=run, status=status, rules=rules)
    status.deletion_stage_status = StageStatus(
        stage_name=DELETION_STAGE,
        clusters=[ClusterStatus(cluster_name=name) for name in targets.leaving],
    )
    sizes.check(status, targets=targets)
    return targets


def record_snapshot(snapshot: SnapshotFacts, *, status: UpdateRunStatus) -> None:
    """Record which resource snapshot is rolled out, and each cluster's overrides.

    Raises:
        InitializationError: with so many overrides the status would be too large.
    """
    status.resource_snapshot_index_used = snapshot.index
    overrides = {each.cluster: each for each in snapshot.overrides}
    for stage in status.stages_status:
        for cluster in stage.clusters:
            record_overrides(cluster, overrides.get(cluster.cluster_name))
    sizes.check(status)


def record_overrides(cluster: ClusterStatus, found: ClusterOverrides | None) -> None:
    """Record the override snapshots that apply to a cluster; None if there are none."""
    # A field that is set is written, and an empty list would say nothing.
    if found and found.cluster_resource:
        cluster.cluster_resource_override_snapshots = found.cluster_resource
    if found and found.resource:
        cluster.resource_override_snapshots = found.resource


def check_index(index: str) -> int:
    """Parse an explicit resource snapshot index as Go's strconv.Atoi does.

    Raises:
        InitializationError: not an integer, or negative.
    """
    try:
        number = integers.parse(index)
    except ValueError:
        number = -1
    if number < 0:
        raise failures.INDEX_NOT_VALID.error(index=index)
    return number


def snapshot_missing(index: str, *, placement: str) -> Exception:
    """Return the error for an index that no resource snapshot of the placement has."""
    return failures.SNAPSHOT_MISSING.error(index=check_index(index), key=placement)


def master_missing(*, placement: str) -> Exception:
    """Return the error for a snapshot group without a master."""
    return failures.MASTER_MISSING.error(key=placement)


def _inspect_placement_and_policy(
    facts: HubFacts, *, run: RunRef, status: UpdateRunStatus
) -> PolicyFact:
    inspect_placement(facts.placement, status=status)
    return inspect_policy(facts, run=run, status=status)


def inspect_placement(placement: PlacementFact | None, *, status: UpdateRunStatus) -> None:
    """Check that the placement exists and leaves its rollout to runs (step 7.1)."""
    if placement is None:
        raise failures.PLACEMENT_MISSING.error()
    if placement.strategy_type != RolloutStrategyType.EXTERNAL:
        raise failures.PLACEMENT_NOT_EXTERNAL.error(type=placement.strategy_type)
    status.applied_strategy = placement.apply_strategy


def inspect_policy(facts: HubFacts, *, run: RunRef, status: UpdateRunStatus) -> PolicyFact:
    """Find the one latest policy snapshot and check that it is fully scheduled (step 7.2)."""
    policy = latest_policy(facts, run=run)
    status.policy_snapshot_index_used = policy.index
    status.policy_observed_cluster_count = _cluster_count(policy, run=run)
    if not policy.scheduled:
        raise failures.POLICY_NOT_SCHEDULED.error(snapshot=policy.name)
    return policy


def latest_policy(facts: HubFacts, *, run: RunRef) -> PolicyFact:
    """Return the one latest policy snapshot, whether or not it is scheduled.

    Raises:
        InitializationError: it is missing, or there are several.
    """
    return _policy(facts.policies, run=run, placement=run.key(facts.spec.placement_name))


def inspect_bindings(
    facts: HubFacts,
    policy: PolicyFact,
    *,
    run: RunRef,
    status: UpdateRunStatus,
    none_is_fine: bool = False,
) -> Targets:
    """Determine which clusters are updated and which are removed (step 7.3)."""
    selected, leaving = _sorted_out(facts.bindings, policy)
    if not (selected or leaving or none_is_fine):
        raise failures.NO_BINDINGS.error(snapshot=run.key(policy.name))
    if status.policy_observed_cluster_count == UNKNOWN_COUNT:
        status.policy_observed_cluster_count = len(selected)
    elif status.policy_observed_cluster_count != len(selected):
        raise failures.BINDINGS_MISSING.error(
            found=len(selected), wanted=status.policy_observed_cluster_count
        )
    return Targets(selected=_by_cluster(selected), leaving=_by_cluster(leaving))


def targets_of(facts: HubFacts, policy: PolicyFact, *, deleting: bool) -> Targets:
    """Return the bindings that there are, however many the placement asks for.

    `deleting` says whether a binding that is being deleted counts, too.

    Raises:
        TransientState: a binding still belongs to an older policy snapshot.
    """
    selected, leaving = _sorted_out(facts.bindings, policy)
    there = [each for each in selected if deleting or not each.deleting]
    return Targets(selected=_by_cluster(there), leaving=_by_cluster(leaving))


def bound(facts: HubFacts) -> Targets:
    """Return the current bindings, whether or not they match a plan."""
    unscheduled = BindingState.UNSCHEDULED
    return Targets(
        selected=_by_cluster([each for each in facts.bindings if each.state != unscheduled]),
        leaving=_by_cluster([each for each in facts.bindings if each.state == unscheduled]),
    )


def check_settled(facts: HubFacts, *, run: RunRef) -> None:
    """Reject facts from the middle of another controller's change.

    Raises:
        TransientState: a binding still belongs to an older policy snapshot.
    """
    try:
        policy = _inspect_placement_and_policy(facts, run=run, status=UpdateRunStatus())
    except InitializationError:
        return  # decided without the bindings
    _sorted_out(facts.bindings, policy)


def check_looked_at(facts: HubFacts, *, run: RunRef) -> None:
    """Reject facts about a placement that has not been scheduled yet, as just after its creation.

    Raises:
        TransientState: scheduling has not finished; the text says what is missing.
    """
    if facts.placement is None or facts.placement.strategy_type != RolloutStrategyType.EXTERNAL:
        return  # decided without the scheduler
    placement = run.key(facts.spec.placement_name)
    if not facts.policies:
        raise TransientState(f"placement `{placement}` has no policy snapshot yet")
    for policy in facts.policies:
        check_scheduler_done(policy, run=run)


def check_scheduler_done(policy: PolicyFact, *, run: RunRef) -> None:
    """Reject facts from the time before the scheduler has decided about a policy snapshot.

    Raises:
        TransientState: it has not decided yet.
    """
    if not policy.looked_at:
        raise TransientState(
            f"the scheduler has not processed policy snapshot `{run.key(policy.name)}` yet"
        )


def _policy(policies: list[PolicyFact], *, run: RunRef, placement: str) -> PolicyFact:
    if not policies:
        raise failures.POLICY_MISSING.error(key=placement)
    if len(policies) > 1:
        raise failures.SEVERAL_POLICIES.error(key=placement, found=len(policies))
    policy = policies[0]
    if not policy.index:
        raise failures.POLICY_WITHOUT_INDEX.error(snapshot=run.key(policy.name))
    return policy


def _cluster_count(policy: PolicyFact, *, run: RunRef) -> int:
    if policy.placement_type == "PickFixed":
        return policy.cluster_names
    if policy.placement_type != "PickN":
        return UNKNOWN_COUNT
    fault = f"cannot find annotation {NUMBER_OF_CLUSTERS}"
    if (count := policy.cluster_count) is not None:
        try:
            return _count(count)
        except ValueError as error:
            fault = (
                f"invalid annotation {NUMBER_OF_CLUSTERS}: {count} is not a valid count: {error}"
            )
    raise failures.POLICY_WITHOUT_COUNT.error(fault=fault, snapshot=run.key(policy.name))


def _count(text: str) -> int:
    count = integers.parse(text)
    if count < 0:
        raise ValueError("it is negative")
    return count


def _sorted_out(
    bindings: list[BindingFact], policy: PolicyFact
) -> tuple[list[BindingFact], list[BindingFact]]:
    selected, leaving = [], []
    for binding in bindings:
        if binding.state == BindingState.UNSCHEDULED:
            leaving.append(binding)
        elif binding.policy_snapshot == policy.name:
            selected.append(binding)
        else:
            raise TransientState(
                f"binding `{binding.name}` with old policy snapshot `{binding.policy_snapshot}` "
                f"has state {binding.state}, we might observe a transient state, need retry"
            )
    return selected, leaving


def _by_cluster(bindings: list[BindingFact]) -> dict[str, str]:
    return {each.cluster: each.name for each in sorted(bindings, key=lambda each: each.cluster)}


def assign_stages(
    facts: HubFacts,
    strategy: StrategySpec,
    targets: Targets,
    *,
    run: RunRef,
    status: UpdateRunStatus,
    rules: RunRules,
) -> None:
    """Assign every selected cluster to one stage (step 7.5); a policy may let some be left out."""
    status.stages_status = stages.assign(
        strategy,
        run=run.name,
        reference=run.key(facts.spec.staged_rollout_strategy_name),
        clusters=facts.clusters,
        selected=targets.selected,
    )
    stages.check_complete(status.stages_status, targets.selected, rules)
