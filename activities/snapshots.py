"""Finding the resource snapshot that a run rolls out, or taking a new one.

contract: update-runs 7.7 and 7.8
"""

import asyncio
from datetime import timedelta
from typing import Final

from temporalio import activity

from activities.errors import told_to_temporal
from activities.overrides import cluster_labels, latest_overrides
from activities.requests import FindSnapshot
from api import names
from api.selectors import LabelSelector
from hub import Hub, Json
from placement.snapshots import take_snapshot
from planning import selectors
from planning.errors import invalid
from planning.overrides.applicable import ClusterOverrides
from planning.overrides.targets import targets
from planning.placements.selecting import SelectionError
from planning.runs import initialization, snapshot_groups
from planning.runs.facts import SnapshotFacts
from planning.runs.snapshot_groups import SnapshotGroup

SECOND_LOOK_AFTER: Final = timedelta(seconds=1)
"""Large content is stored in several objects, written one after the other: a run of an index
that has just appeared may come before the last of them. As long as decision 8 has it."""


class SnapshotActivities:
    """Looks snapshots up; takes one for a run that names no index."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    @activity.defn(name="find_snapshot")
    async def find_snapshot(self, request: FindSnapshot) -> SnapshotFacts:
        """Say which master snapshot belongs to the run's index, and which overrides apply.

        Raises (final): no such index, or the placement's selectors or an override are wrong.
        """
        with told_to_temporal():
            if request.index:
                initialization.check_index(request.index)
            index = request.index or await self._take(request)
            group = await self._find(request, index)
            overrides = await self._overrides(request, index, group)
            return SnapshotFacts(index=index, name=group.name, overrides=overrides)

    async def _take(self, request: FindSnapshot) -> str:
        try:
            taken = await take_snapshot(
                self._hub,
                scope=request.run.scope,
                namespace=request.run.namespace,
                placement=request.placement,
            )
        except SelectionError as error:
            raise invalid(str(error)) from error
        return str(taken.index)

    async def _find(self, request: FindSnapshot, index: str) -> SnapshotGroup:
        placement = request.run.key(request.placement)
        found = await self._list(request, index)
        return snapshot_groups.find(found, index=index, placement=placement)

    async def _list(self, request: FindSnapshot, index: str) -> list[Json]:
        wanted = {names.PARENT_PLACEMENT: request.placement, names.RESOURCE_INDEX: index}
        if selectors.problem(LabelSelector(match_labels=wanted)):
            # `+0` is an integer, but no object can have it as a label, and the API server refuses
            # to look for it.
            return []
        found = await self._hub.list(
            request.run.scope.resource_snapshot,
            namespace=request.run.namespace,
            labels=",".join(f"{key}={value}" for key, value in wanted.items()),
        )
        return found.items

    async def _overrides(
        self, request: FindSnapshot, index: str, group: SnapshotGroup
    ) -> list[ClusterOverrides]:
        run = request.run
        overrides = await latest_overrides(self._hub, run)
        overrides = overrides.for_placement(run.key(request.placement))
        if not overrides:
            return []
        if not group.whole:
            await asyncio.sleep(SECOND_LOOK_AFTER.total_seconds())
            group = await self._find(request, index)
        overrides = overrides.about(targets(group.resources()))
        if not overrides:
            return []
        return overrides.by_cluster(await cluster_labels(self._hub, request.clusters))
