"""Measurements of rollouts."""

import asyncio
import json
import os
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final

from temporalio.client import Client

from api.kinds import CLUSTER_SCOPE
from api.reasons import ConditionType
from hub import Hub, Json
from planning.identity import RunRef
from tests.bench.bare_writer import BareWriter
from tests.bench.fleets import BenchFleet
from tests.bench.watching import all_are
from tests.bench.world import World
from tests.support.conditions import condition_of, says

ENGINE_AGENT: Final = "fleetgate"
WRITES: Final = ("create", "update", "patch", "delete", "deletecollection")


@dataclass(frozen=True)
class Measured:
    """The figures of one benchmark; times in seconds, sizes in bytes, memory in MiB."""

    name: str
    clusters: int
    wall: float
    least: float
    """Sum of the waves: the time of the simulated members, with nothing in between."""
    slowest_run: float
    engine_writes_per_cluster: float
    engine_requests_per_cluster: float
    history_events: int
    history_events_per_cluster: float
    largest_status_write: int
    """Largest write other than the first one of a run, which is the whole plan."""
    engine_cpu: float
    hub_cpu: float
    temporal_cpu: float
    engine_memory: float
    load: float
    """Load of the machine at the start, averaged over a minute."""


class Bench:
    """Runs rollouts and measures them."""

    def __init__(self, world: World, hub: Hub, client: Client, *, delay: float) -> None:
        self._world = world
        self._hub = hub
        self._client = client
        self._delay = delay

    async def runs(self, name: str, fleets: list[BenchFleet], *, index: str) -> Measured:
        """Start one run on each fleet at once and wait until all have succeeded."""
        clusters = sum(sum(fleet.sizes.values()) for fleet in fleets)
        load, before, seen = os.getloadavg()[0], self._world.usage(), self._audited()
        started = monotonic()
        took = await self._roll_out([(fleet, f"{fleet.name}-{index}") for fleet in fleets], index)
        wall = monotonic() - started
        after = self._world.usage()
        requests = list(self._world.requests())[seen:]
        events = await self._events([f"{fleet.name}-{index}" for fleet in fleets])
        engine = [each for each in requests if each["userAgent"].startswith(ENGINE_AGENT)]
        return Measured(
            name=name,
            clusters=clusters,
            wall=wall,
            least=max(fleet.waves() for fleet in fleets) * self._delay,
            slowest_run=max(took),
            engine_writes_per_cluster=_writes(engine) / clusters,
            engine_requests_per_cluster=len(engine) / clusters,
            history_events=max(events),
            history_events_per_cluster=sum(events) / clusters,
            largest_status_write=_largest_status(engine),
            engine_cpu=_spent(before, after, "engine"),
            hub_cpu=_spent(before, after, "hub-apiserver") + _spent(before, after, "etcd"),
            temporal_cpu=_spent(before, after, "temporal"),
            engine_memory=after["engine"].memory_mib,
            load=load,
        )

    async def bare(self, fleets: list[BenchFleet], *, index: str) -> float:
        """Return the seconds that a bare writer takes for the same."""
        for fleet in fleets:
            # Names a missing strategy, so that the engine does nothing with the run.
            await fleet.placement.create_run(f"{fleet.name}-bare", "none", state="Initialize")
        await all_are(
            self._hub,
            CLUSTER_SCOPE.run,
            {f"{fleet.name}-bare" for fleet in fleets},
            lambda run: bool(condition_of(run, ConditionType.INITIALIZED)),
        )
        started = monotonic()
        writers = [BareWriter(self._hub, fleet, index=index) for fleet in fleets]
        await asyncio.gather(*(writer.run() for writer in writers))
        return monotonic() - started

    async def _roll_out(self, runs: list[tuple[BenchFleet, str]], index: str) -> list[float]:
        names = {name for _, name in runs}
        waiting = asyncio.create_task(all_are(self._hub, CLUSTER_SCOPE.run, names, ended))
        await asyncio.sleep(0)
        started = monotonic()
        await asyncio.gather(*(fleet.start(name, index=index) for fleet, name in runs))
        return [moment - started for moment in (await waiting).values()]

    async def _events(self, names: list[str]) -> list[int]:
        counted = []
        for name in names:
            run: Json = await self._hub.get(CLUSTER_SCOPE.run, name)
            ref = RunRef(scope_name=CLUSTER_SCOPE.name, name=name, uid=run["metadata"]["uid"])
            described = await self._client.get_workflow_handle(ref.workflow_id).describe()
            counted.append(described.history_length)
        return counted

    def _audited(self) -> int:
        return sum(1 for _ in self._world.requests())


def ended(run: Json) -> bool:
    """Return whether a run has succeeded; raise AssertionError if it has failed."""
    over = says(run, ConditionType.SUCCEEDED)[0]
    if "False" in (over, says(run, ConditionType.INITIALIZED)[0]):
        raise AssertionError(f"run {run['metadata']['name']} failed: {run['status']['conditions']}")
    return over == "True"


def _writes(requests: list[Json]) -> int:
    return sum(1 for each in requests if each["verb"] in WRITES)


def _largest_status(requests: list[Json]) -> int:
    """Return the size of the largest write of a run's status, other than its first."""
    sizes: dict[str, list[int]] = {}
    for each in requests:
        target = each.get("objectRef", {})
        if target.get("resource") == "clusterstagedupdateruns" and "requestObject" in each:
            size = len(json.dumps(each["requestObject"], separators=(",", ":")))
            sizes.setdefault(target["name"], []).append(size)
    return max((max(of_run[1:], default=0) for of_run in sizes.values()), default=0)


def _spent(before: dict[str, Any], after: dict[str, Any], process: str) -> float:
    spent: float = after[process].cpu_seconds - before[process].cpu_seconds
    return spent
