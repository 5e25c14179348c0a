"""The minimum cost of a rollout: the same writes to the hub, and nothing else.

Without workflow, history and restarts, it only writes binding status, binding spec and a share of a
run's status, as many at once as the stage allows, and waits for the simulated members.
"""

import asyncio
from datetime import UTC, datetime
from typing import Final

from api.applying import ApplyStrategy
from api.bindings import Binding
from api.kinds import CLUSTER_SCOPE
from api.names import PARENT_PLACEMENT
from hub import Cache, Change, Hub
from planning import bindings
from planning.bindings import BindingProgress, Desired
from tests.bench.fleets import BenchFleet

CLUSTERS_A_STATUS: Final = 4
"""Number of clusters that share one write of the run's status, as with the engine."""


class BareWriter:
    """Rolls out to one fleet with bare writes."""

    def __init__(self, hub: Hub, fleet: BenchFleet, *, index: str) -> None:
        self._hub = hub
        self._fleet = fleet
        self._index = index
        self._desired = Desired(
            snapshot=f"{fleet.name}-{index}-snapshot", apply_strategy=ApplyStrategy()
        )
        self._finished: dict[str, asyncio.Event] = {}
        self._updated = 0

    async def run(self) -> None:
        """Write one stage after the other."""
        labels = f"{PARENT_PLACEMENT}={self._fleet.name}"
        cache = Cache(self._hub, CLUSTER_SCOPE.binding, labels=labels)
        cache.subscribe(self._note)
        caching = asyncio.create_task(cache.run())
        await cache.ready()
        for stage, size in self._fleet.sizes.items():
            slots = asyncio.Semaphore(max(1, size // 2))
            names = [f"{self._fleet.name}-{stage}-{number:04}" for number in range(size)]
            await asyncio.gather(*(self._update(name, slots) for name in names))
        caching.cancel()

    def _note(self, change: Change) -> None:
        if change.new is None:
            return
        binding = Binding.from_wire(change.new)
        held = bindings.held(binding, self._desired)
        if held and bindings.progress(binding) is BindingProgress.FINISHED:
            self._done(binding.spec.target_cluster).set()

    def _done(self, cluster: str) -> asyncio.Event:
        return self._finished.setdefault(cluster, asyncio.Event())

    async def _update(self, cluster: str, slots: asyncio.Semaphore) -> None:
        async with slots:
            await self._write(self._fleet.placement.binding_name(cluster))
            await self._done(cluster).wait()
        self._updated += 1
        if self._updated % CLUSTERS_A_STATUS == 0:
            await self._write_status()

    async def _write(self, name: str) -> None:
        binding = Binding.from_wire(await self._hub.get(CLUSTER_SCOPE.binding, name))
        condition = bindings.rollout_started(
            index=self._index,
            run="bare-writer",
            generation=binding.metadata.generation + 1,
            now=datetime.now(UTC),
        )
        await self._hub.apply(
            CLUSTER_SCOPE.binding,
            {"metadata": {"name": name}, "status": {"conditions": [condition.to_wire()]}},
            subresource="status",
        )
        await self._hub.patch(CLUSTER_SCOPE.binding, name, self._desired.patch(binding))

    async def _write_status(self) -> None:
        status = {"policySnapshotIndexUsed": str(self._updated)}
        await self._hub.patch(
            CLUSTER_SCOPE.run,
            f"{self._fleet.name}-bare",
            {"status": status},
            subresource="status",
        )
