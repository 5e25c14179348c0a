"""Measurements of the built-in placement."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Final

from api import names
from api.base import Condition
from api.kinds import CLUSTER_SCOPE, CONFIG_MAP, MEMBER_CLUSTER, NAMESPACE
from hub import Hub, Json
from planning import conditions
from tests.bench.fleets import in_parallel
from tests.bench.measuring import WRITES
from tests.bench.watching import all_are
from tests.bench.world import World

AVAILABLE: Final = f"{CLUSTER_SCOPE.placement.kind}Available"


@dataclass(frozen=True)
class Placed:
    """The figures of one benchmark; times in seconds, memory in MiB."""

    name: str
    bindings: int
    wall: float
    """Time from the first placement's creation until the last is available everywhere."""
    writes_per_binding: float
    """Writes of everything on the hub, including the simulated agents."""
    placement_cpu: float
    hub_cpu: float
    placement_memory: float
    load: float


class PlacementBench:
    """Creates placements and measures how long they take."""

    def __init__(self, world: World, hub: Hub) -> None:
        self._world = world
        self._hub = hub

    async def join(self, members: Iterable[str]) -> None:
        """Register members and wait until they have joined and have their rights on the hub."""
        wanted = set(members)
        rooms = {names.member_namespace(each) for each in wanted}
        joined = asyncio.gather(
            all_are(self._hub, MEMBER_CLUSTER, wanted, _has_agent),
            all_are(self._hub, NAMESPACE, rooms, _is_granted),
        )
        await in_parallel(sorted(wanted), self._register)
        await joined

    async def _register(self, name: str) -> None:
        identity = {"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}
        body = {"metadata": {"name": name}, "spec": {"identity": identity}}
        await self._hub.create(MEMBER_CLUSTER, body)

    async def content(self, name: str) -> None:
        """Create a namespace with a ConfigMap to place."""
        await self._hub.create(NAMESPACE, {"metadata": {"name": name}})
        body = {"metadata": {"name": "content", "namespace": name}, "data": {"key": "value"}}
        await self._hub.create(CONFIG_MAP, body)

    async def place(self, name: str, placements: dict[str, Json], *, bindings: int) -> Placed:
        """Create placements, each for the namespace with its name, and wait for all of them."""
        load, before, seen = os.getloadavg()[0], self._world.usage(), self._writes()
        everywhere = asyncio.create_task(
            all_are(self._hub, CLUSTER_SCOPE.placement, placements, _is_available)
        )
        await asyncio.sleep(0)
        started = monotonic()
        await in_parallel(placements.items(), self._place)
        await everywhere
        wall, after = monotonic() - started, self._world.usage()

        def spent(process: str) -> float:
            return after[process].cpu_seconds - before[process].cpu_seconds

        return Placed(
            name=name,
            bindings=bindings,
            wall=wall,
            writes_per_binding=(self._writes() - seen) / bindings,
            placement_cpu=spent("engine"),
            hub_cpu=spent("hub-apiserver") + spent("etcd"),
            placement_memory=after["engine"].memory_mib,
            load=load,
        )

    async def _place(self, placement: tuple[str, Json]) -> None:
        name, policy = placement
        selector = {"group": "", "version": "v1", "kind": "Namespace", "name": name}
        spec = {"resourceSelectors": [selector], "policy": policy}
        await self._hub.create(CLUSTER_SCOPE.placement, {"metadata": {"name": name}, "spec": spec})

    def _writes(self) -> int:
        return sum(each["verb"] in WRITES for each in self._world.requests())


async def measured_restart(world: World, steady: Callable[[], Awaitable[Placed]]) -> Placed:
    """Kill the placement process and start it again; measure until a placement is complete."""
    started = monotonic()
    await world.restart_engine()
    ready = monotonic() - started
    placed = await steady()
    return Placed(**{**vars(placed), "wall": ready + placed.wall})


def _has_agent(member: Json) -> bool:
    return "agentStatus" in member.get("status", {})


def _is_granted(namespace: Json) -> bool:
    return names.GRANTED in namespace["metadata"].get("annotations", {})


def _is_available(placement: Json) -> bool:
    said = [
        Condition.model_validate(each) for each in placement.get("status", {}).get("conditions", [])
    ]
    return conditions.has(said, AVAILABLE)
