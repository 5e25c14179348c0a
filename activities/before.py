"""What clusters had before a run changed them, as their bindings note it (decision record 0040)."""

from api.bindings import Binding
from api.names import PARENT_PLACEMENT
from hub import Hub, SharedCaches
from planning.bindings import Before
from planning.identity import RunRef
from planning.placements import snapshotting


async def changed_by(
    hub: Hub, run: RunRef, placement: str, *, caches: SharedCaches | None = None
) -> dict[str, str]:
    """Return the clusters that a run has changed, each with the index of its snapshot before.

    The index is empty if the cluster had no snapshot, or one that is gone. With `caches`, bindings
    are taken from a watch that runs, which may be slightly out of date: the clusters of a placement
    may be a thousand. Raises HubError.
    """
    labels = f"{PARENT_PLACEMENT}={placement}"
    kind, namespace = run.scope.binding, run.namespace
    watched = caches.running(kind, namespace=namespace, labels=labels) if caches else None
    bindings = (
        watched.items()
        if watched and watched.version >= 0
        else (await hub.list(kind, namespace=namespace, labels=labels)).items
    )
    snapshots = await hub.list(
        run.scope.resource_snapshot, namespace=namespace, labels=labels, metadata_only=True
    )
    indexes = {each["metadata"]["name"]: snapshotting.index_of(each) for each in snapshots.items}
    found = map(Binding.from_wire, bindings)
    return {
        each.spec.target_cluster: indexes.get(before.snapshot, "")
        for each in found
        if (before := Before.of(each)) and before.run == run.uid
    }
