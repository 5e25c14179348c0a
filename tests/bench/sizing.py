"""`python -m tests.bench.sizing`: the memory of a process at large sizes.

Measures the placement role with many members and placements, killed and started again; and engine
and bridge with many runs open at once, each at a gate with some clusters done and some to come.
"""

import argparse
import asyncio
import json
import os
import signal
from collections.abc import Iterable
from time import monotonic
from typing import Final

from api.kinds import CLUSTER_SCOPE, NAMESPACE, Kind
from api.reasons import ConditionType, RunReason
from hub import Hub, Json
from tests.bench.fleets import BenchFleet, in_parallel
from tests.bench.placing import PlacementBench
from tests.bench.scenarios import connected
from tests.bench.watching import all_are
from tests.bench.world import ENGINE, PLACEMENT_ALONE, World, world
from tests.support.conditions import says

DELAY: Final = 0.2
"""Seconds that a simulated member takes."""
DEPLOYMENT: Final = Kind("apps", "v1", "Deployment", "deployments", namespaced=True)
DEPLOYMENT_BYTES: Final = 2000
"""Size of one Deployment as JSON: it has twenty environment variables, as many have."""


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.sizing", description=__doc__)
    parser.add_argument("--members", type=int, default=1000)
    parser.add_argument("--placements", type=int, default=50, help="0: none")
    parser.add_argument("--runs", type=int, default=100, help="runs open at once; 0: none")
    parser.add_argument("--clusters", type=int, default=100, help="of each placement, of each run")
    parser.add_argument("--kilobytes", type=int, default=20, help="of each placement's content")
    arguments = parser.parse_args()
    # Like Ctrl-C, so that a time limit leaves no server behind either.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    asyncio.run(measure(arguments))


async def measure(arguments: argparse.Namespace) -> None:
    """Measure both, one after the other, and print each figure as soon as it is known."""
    size = (arguments.members, arguments.clusters)
    if arguments.placements:
        _tell(f"{arguments.placements} placements of {arguments.clusters} clusters")
        await placements(arguments.placements, *size, arguments.kilobytes)
    if arguments.runs:
        _tell(f"{arguments.runs} runs of {arguments.clusters} clusters")
        await open_runs(arguments.runs, *size)


async def placements(count: int, members: int, clusters: int, kilobytes: int) -> None:
    """Measure concurrent placements, and the time to a steady state after the process is killed."""
    async with world(delay=DELAY, cast=PLACEMENT_ALONE) as made, await connected(made) as hub:
        bench = PlacementBench(made, hub)
        names = [f"member-{number:04}" for number in range(members)]
        await bench.join(names)
        _tell("members alone", _memory(made))
        wanted = {}
        for number in range(count):
            await _content(hub, f"p{number:03}", kilobytes)
            picked = list(_spread(names, number, clusters))
            wanted[f"p{number:03}"] = {"placementType": "PickFixed", "clusterNames": picked}
        placed = await bench.place("wide", wanted, bindings=count * clusters)
        _tell("all available", f"{placed.wall:.0f} s, load {placed.load:.1f}, {_memory(made)}")
        await bench.content("after")
        after = {"after": {"placementType": "PickFixed", "clusterNames": names[:10]}}
        load, asked, begun = os.getloadavg()[0], _requests(made), monotonic()
        await made.restart_engine()
        _tell("ready again", f"{monotonic() - begun:.1f} s, load {load:.1f}, {_memory(made)}")
        await bench.place("after", after, bindings=10)
        _tell("steady again", f"{monotonic() - begun:.1f} s, {_memory(made)}")
        _tell("requests since the restart", f"{_requests(made) - asked}")


async def open_runs(count: int, members: int, clusters: int) -> None:
    """Measure concurrent runs that wait at a gate after their first stage, then complete them."""
    async with world(delay=DELAY) as made, await connected(made) as hub:
        names = [f"member-{number:04}" for number in range(members)]
        fleets = [BenchFleet(hub, f"f{number:03}", clusters=clusters) for number in range(count)]
        await in_parallel(names, fleets[0].register)
        for number, fleet in enumerate(fleets):
            await fleet.create_on(_spread(names, number, clusters))
        _tell("no run", _memory(made))
        load, begun = os.getloadavg()[0], monotonic()
        runs = {f"{fleet.name}-run" for fleet in fleets}
        waiting = asyncio.create_task(all_are(hub, CLUSTER_SCOPE.run, runs, _waits))
        await asyncio.gather(*(fleet.start(f"{fleet.name}-run", index="0") for fleet in fleets))
        await waiting
        _tell("all open", f"{monotonic() - begun:.0f} s, load {load:.1f}, {_memory(made)}")
        ended = asyncio.create_task(all_are(hub, CLUSTER_SCOPE.run, runs, _has_ended))
        await in_parallel(fleets, _approve)
        await ended
        _tell("all over", f"{monotonic() - begun:.0f} s, {_memory(made)}")


async def _approve(fleet: BenchFleet) -> None:
    await fleet.placement.approve(f"{fleet.name}-run-after-first")


def _spread(members: list[str], number: int, clusters: int) -> Iterable[str]:
    """Return the clusters of one of many placements, spread evenly over the members."""
    first = number * clusters // 5
    return (members[(first + step) % len(members)] for step in range(clusters))


async def _content(hub: Hub, namespace: str, kilobytes: int) -> None:
    await hub.create(NAMESPACE, {"metadata": {"name": namespace}})
    for number in range(kilobytes * 1000 // DEPLOYMENT_BYTES):
        await hub.create(DEPLOYMENT, _deployment(f"app-{number}", namespace))


def _deployment(name: str, namespace: str) -> Json:
    labels = {"app": name}
    variables = [
        {"name": f"VARIABLE_{number}", "value": f"a value, the {number}. of this container"}
        for number in range(20)
    ]
    container = {"name": "main", "image": "registry.example.com/app:v1", "env": variables}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}
    metadata: Json = {"name": name, "namespace": namespace, "labels": labels}
    size = len(json.dumps([metadata, spec]))
    metadata["annotations"] = {"padding": "x" * (DEPLOYMENT_BYTES - size)}
    return {"metadata": metadata, "spec": spec}


def _waits(run: Json) -> bool:
    return says(run, ConditionType.PROGRESSING)[1] == RunReason.WAITING


def _has_ended(run: Json) -> bool:
    return bool(says(run, ConditionType.SUCCEEDED)[0])


def _requests(made: World) -> int:
    return sum(each["userAgent"].startswith("fleetgate") for each in made.requests())


def _memory(made: World) -> str:
    used = made.usage()[ENGINE]
    return (
        f"{used.memory_mib:.0f} MiB, {used.most_memory_mib:.0f} MiB at most, "
        f"CPU {used.cpu_seconds:.0f} s"
    )


def _tell(what: str, figures: str = "") -> None:
    print(f"{what}: {figures}" if figures else f"\n{what}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
