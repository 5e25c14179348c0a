"""Finding what a run rolls out: the snapshot with its index, and the overrides of each cluster.

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
from planning.overrides.matching import ClusterOverrides, targets
from planning.runs import snapshot_groups
from planning.runs.snapshot_groups import SnapshotGroup

SECOND_LOOK_AFTER: Final = timedelta(seconds=1)
"""Large content is stored in several objects, written one after the other: a run with an index
that has just appeared may read them before the last is written. The pause is that of contract
decision 8."""


async def find_group(hub: Hub, run: RunRef, placement: str, index: str) -> SnapshotGroup:
    """Return the objects that store the snapshot of a placement with this index.

    Raises InitializationError if there are none, or none of them is the master.
    """
    found = await _list(hub, run, placement, index)
    return snapshot_groups.find(found, index=index, placement=run.key(placement))


async def whole_content(
    hub: Hub, run: RunRef, placement: str, index: str, group: SnapshotGroup
) -> Sequence[Json]:
    """Return the objects that a group stores, reading it again if a part is missing.

    Raises InitializationError if the part is still missing.
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
    """Return the override snapshots that apply to each of these clusters.

    `content` is called only if there are overrides that may select it. Raises InitializationError
    if an override is invalid, and whatever `content` raises.
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
        # `+0` is an integer but not a valid label value, and the API server refuses to select by
        # it.
        return []
    found = await hub.list(
        run.scope.resource_snapshot,
        namespace=run.namespace,
        labels=",".join(f"{key}={value}" for key, value in wanted.items()),
    )
    return found.items
