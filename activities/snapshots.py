"""Finding the resource snapshot that a run rolls out, or taking a new one.

contract: update-runs 7.7 and 7.8
"""

from temporalio import activity

from activities.errors import told_to_temporal
from activities.requests import FindSnapshot
from api import names
from hub import Hub, Json
from placement.snapshots import take_snapshot
from planning import initialization
from planning.errors import invalid
from planning.facts import SnapshotFacts
from planning.selecting import SelectionError


class SnapshotActivities:
    """Looks snapshots up; takes one for a run that names no index."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    @activity.defn(name="find_snapshot")
    async def find_snapshot(self, request: FindSnapshot) -> SnapshotFacts:
        """Say which master snapshot belongs to the run's index.

        Raises (final): no such index, or the placement's selectors are wrong.
        """
        with told_to_temporal():
            if request.index:
                return await self._look_up(request, request.index)
            return await self._take(request)

    async def _take(self, request: FindSnapshot) -> SnapshotFacts:
        try:
            taken = await take_snapshot(
                self._hub,
                scope=request.run.scope,
                namespace=request.run.namespace,
                placement=request.placement,
            )
        except SelectionError as error:
            raise invalid(str(error)) from error
        return SnapshotFacts(index=str(taken.index), name=taken.name)

    async def _look_up(self, request: FindSnapshot, index: str) -> SnapshotFacts:
        initialization.check_index(index)
        run = request.run
        labels = f"{names.PARENT_PLACEMENT}={request.placement},{names.RESOURCE_INDEX}={index}"
        found = await self._hub.list(
            run.scope.resource_snapshot, namespace=run.namespace, labels=labels
        )
        placement = run.key(request.placement)
        if not found.items:
            raise initialization.snapshot_missing(index, placement=placement)
        master = next(filter(_is_master, found.items), None)
        if master is None:
            raise initialization.master_missing(placement=placement)
        return SnapshotFacts(index=index, name=master["metadata"]["name"])


def _is_master(snapshot: Json) -> bool:
    return bool(snapshot["metadata"].get("annotations", {}).get(names.RESOURCE_HASH))
