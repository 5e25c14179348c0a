"""Rolling back a run whose clusters failed: which clusters go back, to what, in which stages.

A run is rolled back by another run, of the snapshot that most of its clusters had before, with a
strategy that selects only those clusters, by their names.

policies: 2.1 (rollback), 3
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from api.names import MEMBER_NAME
from api.rollout_policies import (
    BudgetAction,
    ConcurrentRuns,
    OnUnassigned,
    RollbackGates,
    RollbackOrder,
)
from api.rollout_reports import PolicyField
from api.runs import UpdateRunStatus
from api.selectors import LabelSelector, LabelSelectorRequirement
from api.strategies import Stage, StrategySpec
from api.texts import Text
from planning.identity import name_after
from planning.policies import resolving
from planning.runs.facts import Fact
from planning.runs.rules import RunRules

NAMES: Final = 9
"""How many names are tried: each may be taken by something that has nothing to do with the run."""
_ROLLS_BACK: Final = ("failures.action", str(BudgetAction.ROLL_BACK))
_NOT_AGAIN: Final[Mapping[tuple[str, object], str]] = {_ROLLS_BACK: str(BudgetAction.PAUSE)}
_INSTEAD: Final[Mapping[tuple[str, object], str]] = {
    **_NOT_AGAIN,
    ("concurrentRuns", str(ConcurrentRuns.REFUSE)): str(ConcurrentRuns.QUEUE),
    ("concurrentRuns", str(ConcurrentRuns.SUPERSEDE)): str(ConcurrentRuns.QUEUE),
}
"""Values of rules that a rollback replaces, and with what."""
NOTHING_EARLIER: Final = Text("no cluster had an earlier version that still exists")
NAMES_TAKEN: Final = Text("the name {name}, and those after it, are taken by others")


class RollbackPlan(Fact):
    """What a rollback does."""

    index: str
    """Index of the snapshot that the clusters go back to."""
    clusters: list[str]
    """Clusters that go back."""
    strategy: StrategySpec
    stay: dict[str, str]
    """Clusters that the run changed and that stay as they are, each with the index of the snapshot
    that it had before; empty if it had none, or one that no longer exists."""


def plan(
    status: UpdateRunStatus, rules: RunRules, *, stage: str, before: Mapping[str, str]
) -> RollbackPlan | None:
    """Return how a run is rolled back; None if no cluster had an earlier version.

    Args:
        status: the run's.
        rules: what applies to it.
        stage: name of the stage in which too many clusters failed.
        before: clusters that the run has changed, each with the index of the snapshot that it had
            before; empty if it had none that still exists.
    """
    index = _most_common(before.values())
    if not index:
        return None
    back = {name for name, had in before.items() if had == index}
    return RollbackPlan(
        index=index,
        clusters=sorted(back),
        strategy=_strategy(status, rules, back, order=rules.of_stage(stage).order),
        stay={name: had for name, had in sorted(before.items()) if name not in back},
    )


def _most_common(indexes: Iterable[str]) -> str:
    """Return the index that most clusters had, the newer one with a tie; empty if none had any."""
    counts = Counter(each for each in indexes if each)
    return max(counts, key=lambda each: (counts[each], int(each)), default="")


def _strategy(
    status: UpdateRunStatus, rules: RunRules, back: set[str], *, order: RollbackOrder
) -> StrategySpec:
    """Return a copy of the run's strategy that selects only these clusters."""
    planned = status.staged_update_strategy_snapshot
    assert planned is not None, "a planned run has a copy of its strategy"
    members = {
        stage.stage_name: [
            each.cluster_name for each in stage.clusters if each.cluster_name in back
        ]
        for stage in status.stages_status
    }
    stages = [
        each.model_copy(update={"label_selector": _selecting(names)})
        for each in planned.stages
        if (names := members.get(each.name))
    ]
    return _backwards(stages, rules, order)


def _selecting(clusters: list[str]) -> LabelSelector:
    by_name = LabelSelectorRequirement(key=MEMBER_NAME, operator="In", values=clusters)
    return LabelSelector(match_expressions=[by_name])


def _backwards(stages: Sequence[Stage], rules: RunRules, order: RollbackOrder) -> StrategySpec:
    """Return the stages in the order, and with the limits and gates, that a rollback has."""
    changed = [_stage(each, rules) for each in stages]
    return StrategySpec(stages=changed[::-1] if order is RollbackOrder.REVERSE else changed)


def _stage(stage: Stage, rules: RunRules) -> Stage:
    of_stage, changed = rules.of_stage(stage.name), dict[str, object]()
    if of_stage.max_concurrency is not None:
        changed["max_concurrency"] = of_stage.max_concurrency
    if of_stage.gates is RollbackGates.SKIP:
        changed |= {"before_stage_tasks": [], "after_stage_tasks": []}
    return stage.model_copy(update=changed)


def are_described(rules: RunRules) -> bool:
    """Return whether policies say how rollbacks go, so that those by hand go so too."""
    return any(
        each.name.startswith("rollback.") or (each.name, each.value) == _ROLLS_BACK
        for each in rules.fields
    )


def by_hand(strategy: StrategySpec, rules: RunRules) -> StrategySpec:
    """Return a copy of a strategy for a rollback that a person has asked for, of all clusters."""
    return _backwards(strategy.stages, rules, rules.default.order)


def not_again(rules: RunRules) -> RunRules:
    """Return the rules of a rollback that a person has asked for: it is not rolled back itself."""
    return resolving.recorded(_replaced(rules.fields, _NOT_AGAIN))


def _replaced(
    fields: Iterable[PolicyField], instead: Mapping[tuple[str, object], str]
) -> list[PolicyField]:
    """Return the fields with the values that a rollback has instead of its run's."""
    return [
        each.model_copy(update={"value": instead.get((each.name, each.value), each.value)})
        for each in fields
    ]


def names_for(run: str) -> Iterable[str]:
    """Yield the names that the rollback of a run may have, the preferred one first."""
    for number in range(1, NAMES + 1):
        ending = "-rollback" if number == 1 else f"-rollback-{number}"
        yield name_after(run, ending)


def rules_for(run: str, rules: RunRules) -> RunRules:
    """Return the rules of the run that rolls back the one with this name and these rules.

    It leaves other clusters alone and is not rolled back itself; where runs may not run side by
    side, it waits until the other one is over.
    """
    fields = [
        each
        for each in _replaced(rules.fields, _INSTEAD)
        if each.name not in ("membership.unassigned", "membership.unassignedMost")
    ]
    ignored = PolicyField(name="membership.unassigned", value=str(OnUnassigned.IGNORE))
    return resolving.recorded([*fields, ignored], rolls_back=run)
