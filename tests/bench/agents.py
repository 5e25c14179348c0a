"""Measurements of one member's agent."""

import asyncio
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Final

import psutil

from api import names
from api.kinds import MEMBER_CLUSTER, NAMESPACE, WORK
from deploy.local.services import Service, ensure
from hub import Hub, Json
from tests.bench.fleets import in_parallel
from tests.bench.watching import all_are
from tests.bench.world import World, hub_alone
from tests.support.servers import PrivateApiServer

MEMBER: Final = "measured"
AGENT: Final = "agent"
CHANGES: Final = 5
PATIENCE: Final = 600.0
"""Seconds within which everything must be applied."""


@dataclass(frozen=True)
class Served:
    """The figures of one benchmark; times in seconds, memory in MiB."""

    name: str
    works: int
    wall: float
    """Time from the agent's start until everything is applied and reported."""
    slowest_change: float
    """Time from a change of one Work until it is applied and reported; the slowest of some."""
    agent_cpu: float
    agent_memory: float
    load: float


async def serve(name: str, namespaces: int, content: Callable[[str], list[Json]]) -> Served:
    """Measure an agent that applies a Work for each of these namespaces, and changes of some.

    Raises TimeoutError if that takes longer than `PATIENCE`.
    """
    works = {each: content(each) for each in (f"ns-{number}" for number in range(namespaces))}
    async with hub_alone() as world, await Hub.connect(world.kubeconfig, manager="bench") as hub:
        member = await world.servers.started_api_server()
        await _register(hub)

        async def put(work: tuple[str, list[Json]]) -> None:
            await _put(hub, *work)

        await in_parallel(works.items(), put)
        load, started = os.getloadavg()[0], monotonic()
        everywhere = asyncio.create_task(all_are(hub, WORK, works, _is_reported))
        agent = await _start(world, member)
        async with asyncio.timeout(PATIENCE):
            await everywhere
        wall = monotonic() - started
        changes = [await _changed(hub, each, works[each]) for each in list(works)[:CHANGES]]
        return Served(
            name=name,
            works=len(works),
            wall=wall,
            slowest_change=max(changes),
            agent_cpu=sum(agent.cpu_times()[:2]),
            agent_memory=agent.memory_info().rss / 2**20,
            load=load,
        )


async def _register(hub: Hub) -> None:
    identity = {"kind": "User", "name": MEMBER, "apiGroup": "rbac.authorization.k8s.io"}
    body = {"metadata": {"name": MEMBER}, "spec": {"identity": identity}}
    await hub.create(MEMBER_CLUSTER, body)
    await hub.create(NAMESPACE, {"metadata": {"name": names.member_namespace(MEMBER)}})


async def _put(hub: Hub, namespace: str, manifests: list[Json], *, revision: int = 0) -> Json:
    """Write a Work with a namespace and objects in it; return the Work as stored."""
    space = {"name": namespace, "labels": {"revision": str(revision)}}
    workload = [{"apiVersion": "v1", "kind": "Namespace", "metadata": space}, *manifests]
    metadata = {"name": namespace, "namespace": names.member_namespace(MEMBER)}
    return await hub.apply(
        WORK, {"metadata": metadata, "spec": {"workload": {"manifests": workload}}}
    )


async def _start(world: World, member: PrivateApiServer) -> psutil.Process:
    options = ("--member", MEMBER, "--hub-kubeconfig", str(world.kubeconfig))
    service = Service(
        name=AGENT,
        argv=(
            *(sys.executable, "-m", "starter", "agent"),
            *options,
            *("--member-kubeconfig", str(member.kubeconfig)),
        ),
    )
    await ensure(service, processes=world.servers.processes)
    running = world.servers.processes.find(AGENT)
    assert running
    return running.process


async def _changed(hub: Hub, name: str, manifests: list[Json]) -> float:
    """Change a Work, and return the seconds until it is applied and reported."""
    started = monotonic()
    put = await _put(hub, name, manifests, revision=1)
    generation = put["metadata"]["generation"]
    waiting = all_are(hub, WORK, {name}, lambda work: _is_reported(work, generation))
    return (await waiting)[name] - started


def _is_reported(work: Json, generation: int = 0) -> bool:
    conditions = work.get("status", {}).get("conditions", [])
    said = {each["type"]: (each["status"], each["observedGeneration"]) for each in conditions}
    wanted = ("True", generation or work["metadata"]["generation"])
    return said.get("Applied") == said.get("Available") == wanted
