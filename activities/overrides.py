"""Finding the override snapshots that apply to the content of a placement.

contract: update-runs 7.8, placement 9
"""

import asyncio
from collections.abc import Mapping, Sequence

from api.kinds import (
    CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT,
    MEMBER_CLUSTER,
    RESOURCE_OVERRIDE_SNAPSHOT,
)
from api.names import IS_LATEST_SNAPSHOT
from api.overrides import ClusterResourceOverrideSnapshot, ResourceOverrideSnapshot
from hub import Hub, labels_of
from planning import failures
from planning.identity import RunRef
from planning.overrides.matching import Overrides


async def latest_overrides(hub: Hub, run: RunRef) -> Overrides:
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


async def cluster_labels(hub: Hub, clusters: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
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
