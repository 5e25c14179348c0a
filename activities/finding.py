"""Finding what a run rolls out: the snapshot of an index, and the overrides of each cluster.

contract: update-runs 7.7 and 7.8
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Final

from activities.overrides import cluster_labels, latest_overrides
from api import names
from api.selectors import LabelSelector
from hub import Hub, Json
from planning import selectors
from planning.identity import RunRef
from planning.overrides.applicable import ClusterOverrides
from planning.overrides.targets import targets
from planning.runs import snapshot_groups
from planning.runs.snapshot_groups import SnapshotGroup

SECOND_LOOK_AFTER: Final = timedelta(seconds=1)
"""Large content is stored in several objects, written one after the other: a run of an index
that has just appeared may come before the last of them. As long as decision 8 has it."""


async def find_group(hub: Hub, run: RunRef, placement: str, index: str) -> SnapshotGroup:
    """The objects that store an index of a placement's content.

    Raises InitializationError when there are none, or none of them is the master.
    """
    found = await _list(hub, run, placement, index)
    return snapshot_groups.find(found, index=index, placement=run.key(placement))


async def whole_content(
    hub: Hub, run: RunRef, placement: str, index: str, group: SnapshotGroup
) -> Sequence[Json]:
    """The objects that a group stores, after a second look if a part of it is not there yet.

    Raises InitializationError when it still is not.
    """
    if not group.whole:
        await asyncio.sleep(SECOND_LOOK_AFTER.total_seconds())
        group = await find_group(hub, run, placement, index)
    return group.resources()


async def overrides_of(
    hub: Hub,
    run: RunRef,
    placement: str,
    *,
    clusters: Sequence[str],
    content: Callable[[], Awaitable[Sequence[Json]]],
) -> list[ClusterOverrides]:
    """The override snapshots that apply to each of these clusters.

    `content` is asked for only when there are overrides that may be about it. Raises
    InitializationError when an override is wrong, or what `content` raises.
    """
    overrides = await latest_overrides(hub, run)
    overrides = overrides.for_placement(run.key(placement))
    if not overrides:
        return []
    overrides = overrides.about(targets(await content()))
    if not overrides:
        return []
    return overrides.by_cluster(await cluster_labels(hub, clusters))


async def _list(hub: Hub, run: RunRef, placement: str, index: str) -> list[Json]:
    wanted = {names.PARENT_PLACEMENT: placement, names.RESOURCE_INDEX: index}
    if selectors.problem(LabelSelector(match_labels=wanted)):
        # `+0` is an integer, but no object can have it as a label, and the API server refuses
        # to look for it.
        return []
    found = await hub.list(
        run.scope.resource_snapshot,
        namespace=run.namespace,
        labels=",".join(f"{key}={value}" for key, value in wanted.items()),
    )
    return found.items
