"""Planning a run with the engine's own initialization, without writing anything."""

from collections.abc import Sequence
from dataclasses import dataclass

from activities.finding import find_group, overrides_of, whole_content
from activities.looking import look
from activities.rules import rules_for
from api.rollout_policies import ConcurrentRuns
from api.runs import UpdateRun, UpdateRunSpec, UpdateRunStatus
from api.strategies import StrategySpec
from hub import Hub, Json
from placement.snapshots import would_take
from planning.errors import InitializationError, TransientState
from planning.identity import RunRef
from planning.placements.selecting import SelectionError, SelectionRules
from planning.policies import queueing, rolling_back
from planning.runs import initialization
from planning.runs.facts import SnapshotFacts
from planning.runs.rules import RunRules
from starter.records import Versions, read_versions


@dataclass(frozen=True, slots=True)
class DraftContent:
    """The content that would be rolled out."""

    index: str
    is_new: bool
    """Whether the run would store it as a new snapshot first."""
    resources: Sequence[Json]


@dataclass(frozen=True, slots=True)
class Draft:
    """The plan of a run that does not exist."""

    spec: UpdateRunSpec
    status: UpdateRunStatus
    """As far as initialization would get."""
    content: DraftContent | None
    rules: RunRules
    """What rollout policies say about the run."""
    present: Versions
    """The stored snapshots, and which one each cluster has now."""
    ahead: Sequence[str] = ()
    """Runs that it would have to wait for now, if its rules say so."""
    copied: StrategySpec | None = None
    """The strategy that it needs, made from the one that it names; None if it uses that one."""
    problem: str = ""
    """Why the run could not be initialized; empty if it could."""


async def draft(
    hub: Hub,
    run: RunRef,
    spec: UpdateRunSpec,
    *,
    rules: SelectionRules,
    undoes: bool = False,
    as_is: bool = False,
) -> Draft:
    """Plan a run. Raises HubError if the hub is unreachable or denies a read.

    One that `undoes` another run needs its own copy of the strategy if policies say how rollbacks
    go, unless it is to use the strategy `as_is`.
    """
    status, content, problem = UpdateRunStatus(), None, ""
    limits, copied = RunRules(), None
    try:
        facts = await look(hub, run, spec)
        limits = await rules_for(hub, run, facts)
        if undoes and not as_is and facts.strategy and rolling_back.are_described(limits):
            copied = rolling_back.by_hand(facts.strategy, limits)
            facts = facts.model_copy(update={"strategy": copied})
        if undoes:
            limits = rolling_back.not_again(limits)
        targets = initialization.plan(facts, run=run, status=status, rules=limits)
        content = await _content(hub, run, spec, rules)
        snapshot = await _snapshot(hub, run, spec, content, clusters=list(targets.selected))
        initialization.record_snapshot(snapshot, status=status)
    except InitializationError as error:
        problem = str(error)
    except TransientState as error:
        problem = f"the placement is being rescheduled, try again in a moment: {error}"
    present = await read_versions(hub, run.scope, spec.placement_name, namespace=run.namespace)
    ahead = await _ahead(hub, run, spec, limits)
    return Draft(spec, status, content, limits, present, ahead, copied, problem)


async def _ahead(hub: Hub, run: RunRef, spec: UpdateRunSpec, limits: RunRules) -> list[str]:
    if limits.concurrent_runs is ConcurrentRuns.ALLOW:
        return []
    found = await hub.list(run.scope.run, namespace=run.namespace)
    runs = map(UpdateRun.from_wire, found.items)
    return queueing.ahead_of_new(
        each for each in runs if each.spec.placement_name == spec.placement_name
    )


async def _content(
    hub: Hub, run: RunRef, spec: UpdateRunSpec, rules: SelectionRules
) -> DraftContent:
    index, placement = spec.resource_snapshot_index, spec.placement_name
    if index:
        initialization.check_index(index)
        group = await find_group(hub, run, placement, index)
        resources = await whole_content(hub, run, placement, index, group)
        return DraftContent(index, is_new=False, resources=resources)
    try:
        taken, selected = await would_take(
            hub, scope=run.scope, namespace=run.namespace, placement=placement, rules=rules
        )
    except SelectionError as error:
        raise error.of_run from error
    return DraftContent(str(taken.index), is_new=taken.created, resources=selected)


async def _snapshot(
    hub: Hub, run: RunRef, spec: UpdateRunSpec, content: DraftContent, *, clusters: list[str]
) -> SnapshotFacts:
    async def resources() -> Sequence[Json]:
        return content.resources

    overrides = await overrides_of(
        hub, run, spec.placement_name, clusters=clusters, content=resources
    )
    return SnapshotFacts(index=content.index, name="", overrides=overrides)
