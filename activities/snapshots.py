"""Finding the resource snapshot that a run rolls out, or taking a new one.

contract: update-runs 7.7 and 7.8
"""

from temporalio import activity

from activities import stubs
from activities.errors import told_to_temporal
from activities.finding import find_group, overrides_of, whole_content
from activities.requests import FindSnapshot
from hub import Hub
from placement.snapshots import take_snapshot
from planning.overrides.matching import ClusterOverrides
from planning.placements.selecting import SelectionError, SelectionRules
from planning.runs import initialization, sizes
from planning.runs.facts import SnapshotFacts
from planning.runs.snapshot_groups import SnapshotGroup


class SnapshotActivities:
    """Looks up snapshots; takes one for a run that names no index."""

    def __init__(self, hub: Hub, *, rules: SelectionRules) -> None:
        self._hub = hub
        self._rules = rules

    @activity.defn(name=stubs.FIND_SNAPSHOT.name)
    async def find_snapshot(self, request: FindSnapshot) -> SnapshotFacts:
        """Return the master snapshot with the run's index, and the overrides that apply.

        Raises (not retried): there is no such index, or a selector of the placement or an override
        is invalid.
        """
        run, placement = request.run, request.placement
        with told_to_temporal():
            if request.index:
                initialization.check_index(request.index)
            index = request.index or await self._take(request)
            group = await find_group(self._hub, run, placement, index)
            overrides = await self._overrides(request, index, group) if request.clusters else []
            facts = SnapshotFacts(index=index, name=group.name, overrides=overrides)
            sizes.check_payload(
                facts,
                what="the names of the override snapshots that apply to its clusters",
                remedy="use fewer overrides, or divide the placement",
            )
            return facts

    async def _overrides(
        self, request: FindSnapshot, index: str, group: SnapshotGroup
    ) -> list[ClusterOverrides]:
        run, placement = request.run, request.placement
        return await overrides_of(
            self._hub,
            run,
            placement,
            clusters=request.clusters,
            content=lambda: whole_content(self._hub, run, placement, index, group),
        )

    async def _take(self, request: FindSnapshot) -> str:
        try:
            taken = await take_snapshot(
                self._hub,
                scope=request.run.scope,
                namespace=request.run.namespace,
                placement=request.placement,
                rules=self._rules,
            )
        except SelectionError as error:
            raise error.of_run from error
        return str(taken.index)
