"""Stages: which clusters belong to each, and in which order they are updated.

contract: update-runs 7.5
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from api.rollout_policies import OnUnassigned
from api.runs import ClusterStatus, StageStatus
from api.strategies import Stage, StrategySpec
from planning import failures, integers, selectors
from planning.runs import gates
from planning.runs.facts import ClusterFact
from planning.runs.rules import NO_RULES, RunRules, share

_SHOWN: Final = 10
"""Clusters without a stage that an error names."""


def assign(
    strategy: StrategySpec,
    *,
    run: str,
    reference: str,
    clusters: Iterable[ClusterFact],
    selected: Iterable[str],
) -> list[StageStatus]:
    """Distribute the selected clusters over the strategy's stages.

    Args:
        strategy: the stages, in order.
        run: name of the run; approval requests are named after it.
        reference: `<namespace>/<name>` of the strategy, for messages.
        clusters: all member clusters.
        selected: names of those that the placement has scheduled.

    Raises:
        InitializationError: a task, selector or sorting label is invalid, or a cluster is in two
            stages. Clusters in no stage are checked by `check_complete`.
    """
    wanted = frozenset(selected)
    scheduled = [cluster for cluster in clusters if cluster.name in wanted]
    seen: dict[str, str] = {}
    statuses = []
    for stage in strategy.stages:
        _check_stage(stage, reference)
        members = _ordered(stage, _members(stage, scheduled, seen))
        statuses.append(_entry(stage, members, run))
    return statuses


def unassigned(statuses: Iterable[StageStatus], selected: Iterable[str]) -> list[str]:
    """Return the selected clusters that no stage has, sorted."""
    placed = {cluster.cluster_name for stage in statuses for cluster in stage.clusters}
    return sorted(name for name in selected if name not in placed)


def check_complete(
    statuses: Iterable[StageStatus], selected: Collection[str], rules: RunRules = NO_RULES
) -> None:
    """Reject a plan that leaves a selected cluster out of every stage, unless a policy allows it.

    Raises:
        InitializationError: names up to ten of the clusters left out.
    """
    check_unassigned(unassigned(statuses, selected), of=len(selected), rules=rules)


def check_unassigned(missing: Sequence[str], *, of: int, rules: RunRules) -> None:
    """Reject picked clusters, `of` so many, that no stage selects, unless a policy allows them.

    Raises:
        InitializationError: names up to ten of them.
    """
    if not missing:
        return
    parameters = {"total": len(missing), "clusters": ", ".join(missing[:_SHOWN])}
    if rules.unassigned is OnUnassigned.FAIL:
        raise failures.CLUSTERS_WITHOUT_STAGE.error(shown=_SHOWN, **parameters)
    most = share(rules.unassigned_most, of=of)
    if len(missing) > most:
        raise failures.TOO_MANY_WITHOUT_STAGE.error(of=of, most=most, **parameters)


def deciding_labels(strategy: StrategySpec | None) -> list[str]:
    """Return the label keys that decide about membership and order, sorted."""
    keys: set[str] = set()
    for stage in strategy.stages if strategy else ():
        keys |= selectors.keys(stage.label_selector)
        if stage.sorting_label_key:
            keys.add(stage.sorting_label_key)
    return sorted(keys)


def _check_stage(stage: Stage, reference: str) -> None:
    where = {"key": reference, "stage": stage.name}
    if problem := gates.before_problem(stage.before_stage_tasks):
        raise failures.TASKS_NOT_VALID.error(side="before", why=problem, **where)
    if problem := gates.after_problem(stage.after_stage_tasks):
        raise failures.TASKS_NOT_VALID.error(side="after", why=problem, **where)
    if problem := selectors.problem(stage.label_selector):
        raise failures.SELECTOR_NOT_VALID.error(why=problem, **where)


def _members(stage: Stage, scheduled: list[ClusterFact], seen: dict[str, str]) -> list[ClusterFact]:
    members = [each for each in scheduled if selectors.matches(stage.label_selector, each.labels)]
    for cluster in members:
        if cluster.name in seen:
            raise failures.CLUSTER_IN_TWO_STAGES.error(cluster=cluster.name)
        seen[cluster.name] = stage.name
    return members


def _ordered(stage: Stage, members: list[ClusterFact]) -> list[ClusterFact]:
    key = stage.sorting_label_key
    if not key:
        return sorted(members, key=lambda each: each.name)
    return sorted(members, key=lambda each: (_rank(each, key), each.name))


def _rank(cluster: ClusterFact, key: str) -> int:
    value = cluster.labels.get(key, "")
    try:
        return integers.parse(value)
    except ValueError as error:
        raise failures.SORTING_LABEL_NOT_VALID.error(
            key=key, value=value, cluster=cluster.name, why=error
        ) from error


def _entry(stage: Stage, members: list[ClusterFact], run: str) -> StageStatus:
    entry = StageStatus(
        stage_name=stage.name,
        clusters=[ClusterStatus(cluster_name=each.name) for each in members],
    )
    # Only if the strategy declares tasks: a list that is set is written even when empty.
    if stage.before_stage_tasks:
        entry.before_stage_task_status = gates.entries(
            stage.before_stage_tasks, run=run, side="before", stage=stage.name
        )
    if stage.after_stage_tasks:
        entry.after_stage_task_status = gates.entries(
            stage.after_stage_tasks, run=run, side="after", stage=stage.name
        )
    return entry
