"""What a run would do, found out with the engine's own initialization and nothing written."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from activities.finding import find_group, overrides_of, whole_content
from activities.looking import look
from api import names
from api.bindings import Binding
from api.runs import UpdateRunSpec, UpdateRunStatus
from hub import Hub, Json
from placement.snapshots import would_take
from planning.errors import InitializationError, TransientState, invalid
from planning.identity import RunRef
from planning.placements.selecting import SelectionError
from planning.placements.snapshotting import index_of
from planning.runs import initialization, snapshot_groups
from planning.runs.facts import SnapshotFacts


@dataclass(frozen=True, slots=True)
class Content:
    """What would be rolled out."""

    index: str
    is_new: bool
    """Whether the run would store it first, because no version has it."""
    resources: Sequence[Json]


@dataclass(frozen=True, slots=True)
class Draft:
    """The plan of a run that does not exist."""

    spec: UpdateRunSpec
    status: UpdateRunStatus
    """As far as the run would get."""
    content: Content | None
    has_now: Mapping[str, str]
    """The index of the version that each bound cluster has; empty for none."""
    versions: Mapping[str, Sequence[Json]]
    """The objects of each of those versions, by index; none of one that is not whole any more."""
    problem: str = ""
    """Why the run could not be initialized; empty if it could."""


async def draft(hub: Hub, run: RunRef, spec: UpdateRunSpec) -> Draft:
    """Plan a run. Raises HubError when the hub is away or refuses to be read."""
    status, content, problem = UpdateRunStatus(), None, ""
    try:
        facts = await look(hub, run, spec)
        targets = initialization.plan(facts, run=run, status=status)
        content = await _content(hub, run, spec)
        snapshot = await _snapshot(hub, run, spec, content, clusters=list(targets.selected))
        initialization.record_snapshot(snapshot, status=status)
    except InitializationError as error:
        problem = str(error)
    except TransientState as error:
        problem = f"the placement is being scheduled anew, try again in a moment: {error}"
    has_now, versions = await _present(hub, run, spec.placement_name)
    return Draft(spec, status, content, has_now, versions, problem)


async def _content(hub: Hub, run: RunRef, spec: UpdateRunSpec) -> Content:
    index, placement = spec.resource_snapshot_index, spec.placement_name
    if index:
        initialization.check_index(index)
        group = await find_group(hub, run, placement, index)
        resources = await whole_content(hub, run, placement, index, group)
        return Content(index, is_new=False, resources=resources)
    try:
        taken, selected = await would_take(
            hub, scope=run.scope, namespace=run.namespace, placement=placement
        )
    except SelectionError as error:
        raise invalid(str(error)) from error
    return Content(str(taken.index), is_new=taken.created, resources=selected)


async def _snapshot(
    hub: Hub, run: RunRef, spec: UpdateRunSpec, content: Content, *, clusters: list[str]
) -> SnapshotFacts:
    async def resources() -> Sequence[Json]:
        return content.resources

    overrides = await overrides_of(
        hub, run, spec.placement_name, clusters=clusters, content=resources
    )
    return SnapshotFacts(index=content.index, name="", overrides=overrides)


async def _present(
    hub: Hub, run: RunRef, placement: str
) -> tuple[dict[str, str], dict[str, Sequence[Json]]]:
    """What the clusters have now: the index by cluster, the objects by index."""
    labels = f"{names.PARENT_PLACEMENT}={placement}"
    kinds, where = run.scope, run.namespace
    bindings, snapshots = await asyncio.gather(
        hub.list(kinds.binding, namespace=where, labels=labels),
        hub.list(kinds.resource_snapshot, namespace=where, labels=labels),
    )
    index = {each["metadata"]["name"]: index_of(each) for each in snapshots.items}
    specs = [Binding.from_wire(each).spec for each in bindings.items]
    has_now = {each.target_cluster: index.get(each.resource_snapshot_name, "") for each in specs}
    versions = {
        version: _objects([each for each in snapshots.items if index_of(each) == version], version)
        for version in set(has_now.values())
    }
    return has_now, versions


def _objects(snapshots: Sequence[Json], index: str) -> Sequence[Json]:
    try:
        return snapshot_groups.find(snapshots, index=index, placement="").resources()
    except InitializationError:
        return []
