"""Finding what a run rolls out: the snapshot with its index, and the overrides of each cluster.

contract: update-runs 7.7 and 7.8, placement 9
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from api import names
from api.kinds import (
    CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT,
    MEMBER_CLUSTER,
    RESOURCE_OVERRIDE_SNAPSHOT,
)
from api.names import IS_LATEST_SNAPSHOT
from api.overrides import ClusterResourceOverrideSnapshot, ResourceOverrideSnapshot
from api.selectors import LabelSelector
from hub import Hub, Json, labels_of
from planning import failures, selectors
from planning.identity import RunRef
from planning.overrides.matching import ClusterOverrides, Overrides, targets
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
    overrides = await _latest_overrides(hub, run)
    overrides = overrides.for_placement(run.key(placement))
    if not overrides:
        return []
    overrides = overrides.about(targets(await content()))
    if not overrides:
        return []
    return overrides.by_cluster(await _cluster_labels(hub, clusters))


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


# -- overrides -----------------------------------------------------------------------------


async def _latest_overrides(hub: Hub, run: RunRef) -> Overrides:
    """Return the latest snapshot of every override that may select what the run rolls out."""
    labels = f"{IS_LATEST_SNAPSHOT}=true"
    # A ResourcePlacement selects only objects in its own namespace.
    cluster_resource, resource = await asyncio.gather(
        hub.list(CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT, labels=labels),
        hub.list(RESOURCE_OVERRIDE_SNAPSHOT, namespace=run.namespace, labels=labels),
    )
    return Overrides.latest(
        map(ClusterResourceOverrideSnapshot.from_wire, cluster_resource.items),
        map(ResourceOverrideSnapshot.from_wire, resource.items),
    )


async def _cluster_labels(hub: Hub, clusters: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
    """Return the labels of member clusters, in the given order.

    Raises:
        InitializationError: one of them has left the fleet.
    """
    listed = await hub.list(MEMBER_CLUSTER, metadata_only=True)
    labels = {each["metadata"]["name"]: labels_of(each) for each in listed.items}
    for cluster in clusters:
        if cluster not in labels:
            kind = f"{MEMBER_CLUSTER}.{MEMBER_CLUSTER.group}"
            raise failures.CLUSTER_LEFT.error(kind=kind, cluster=cluster)
    return {cluster: labels[cluster] for cluster in clusters}
