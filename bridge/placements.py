"""Placements: when one goes, the runs that roll it out have to know.

contract: update-runs 9, decision 8
"""

from bridge.runs import RunIndex
from bridge.temporal import Signal, Workflows
from hub import Cache, Key
from workflows.messages import Recheck


class PlacementReconciler:
    """Has runs look again whose placement is gone."""

    def __init__(self, cache: Cache, runs: RunIndex, workflows: Workflows) -> None:
        self._cache = cache
        self._runs = runs
        self._workflows = workflows

    async def reconcile(self, key: Key) -> None:
        """Tell all active runs of a placement that is gone, or going."""
        namespace, name = key
        found = self._cache.get(name, namespace)
        if found and not found["metadata"].get("deletionTimestamp"):
            return
        signal = Signal("recheck", Recheck(reason=f"placement {name} is deleted"))
        for run in self._runs.active():
            if (run.metadata.namespace, run.spec.placement_name) == key:
                await self._workflows.tell(self._runs.ref(run), signal)
