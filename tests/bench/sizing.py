"""`python -m tests.bench.sizing`: what a process keeps in memory at size.

The placement part with many members and placements, killed and started again; and engine and bridge
with many runs open at once, each at a gate with clusters done and clusters to come.
"""

import argparse
import asyncio
import json
import os
import signal
from collections.abc import Iterable
from time import monotonic
from typing import Final

from rich.console import Console
from rich.table import Table

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
"""Raw JSON of one Deployment: twenty variables of the environment, as many have."""

Figures = dict[str, str]


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.sizing", description=__doc__)
    parser.add_argument("--members", type=int, default=1000)
    parser.add_argument("--placements", type=int, default=50, help="0: none")
    parser.add_argument("--runs", type=int, default=100, help="runs open at once; 0: none")
    parser.add_argument("--clusters", type=int, default=100, help="of each placement, of each run")
    parser.add_argument("--kilobytes", type=int, default=20, help="of each placement's content")
    arguments = parser.parse_args()
    # As Ctrl-C, so that a time limit leaves no server behind either.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    asyncio.run(measure(arguments))


async def measure(arguments: argparse.Namespace) -> None:
    """Measure both, one after the other."""
    size = (arguments.members, arguments.clusters)
    if arguments.placements:
        name = f"{arguments.placements} placements of {arguments.clusters} clusters"
        _show(name, await placements(arguments.placements, *size, arguments.kilobytes))
    if arguments.runs:
        name = f"{arguments.runs} runs of {arguments.clusters} clusters"
        _show(name, await open_runs(arguments.runs, *size))


async def placements(count: int, members: int, clusters: int, kilobytes: int) -> Figures:
    """So many placements at once, and how soon all is steady when the process is killed."""
    async with world(delay=DELAY, cast=PLACEMENT_ALONE) as made, await connected(made) as hub:
        bench = PlacementBench(made, hub)
        names = [f"member-{number:04}" for number in range(members)]
        await bench.join(names)
        figures = {"memory with members alone": _mib(made)}
        wanted = {}
        for number in range(count):
            await _content(hub, f"p{number:03}", kilobytes)
            picked = list(_spread(names, number, clusters))
            wanted[f"p{number:03}"] = {"placementType": "PickFixed", "clusterNames": picked}
        placed = await bench.place("wide", wanted, bindings=count * clusters)
        figures |= {
            "load before": f"{placed.load:.1f}",
            "all available after": f"{placed.wall:.0f} s",
            "its CPU": f"{placed.placement_cpu:.0f} s, the hub's {placed.hub_cpu:.0f} s",
            "memory": _mib(made),
            "most so far": _peak(made),
        }
        await bench.content("after")
        after = {"after": {"placementType": "PickFixed", "clusterNames": names[:10]}}
        load, asked, begun = os.getloadavg()[0], _requests(made), monotonic()
        await made.restart_engine()
        ready = monotonic() - begun
        await bench.place("after", after, bindings=10)
        spent = made.usage()[ENGINE].cpu_seconds
        return figures | {
            "load before the restart": f"{load:.1f}",
            "ready again after": f"{ready:.1f} s",
            "steady again after": f"{monotonic() - begun:.1f} s, CPU {spent:.1f} s",
            "requests until then": f"{_requests(made) - asked}",
            "memory after the restart": _mib(made),
            "most since the restart": _peak(made),
        }


async def open_runs(count: int, members: int, clusters: int) -> Figures:
    """So many runs at once that stand at a gate after their first stage."""
    async with world(delay=DELAY) as made, await connected(made) as hub:
        names = [f"member-{number:04}" for number in range(members)]
        fleets = [BenchFleet(hub, f"f{number:03}", clusters=clusters) for number in range(count)]
        await in_parallel(names, fleets[0].register)
        for number, fleet in enumerate(fleets):
            await fleet.create_on(_spread(names, number, clusters))
        figures = {"memory without runs": _mib(made)}
        load, begun = os.getloadavg()[0], monotonic()
        runs = {f"{fleet.name}-run" for fleet in fleets}
        waiting = asyncio.create_task(all_are(hub, CLUSTER_SCOPE.run, runs, _waits))
        await asyncio.gather(*(fleet.start(f"{fleet.name}-run", index="0") for fleet in fleets))
        await waiting
        figures |= {
            "load before": f"{load:.1f}",
            "all at their gates after": f"{monotonic() - begun:.0f} s",
            "its CPU": f"{made.usage()[ENGINE].cpu_seconds:.0f} s",
            "memory with all runs open": _mib(made),
            "most so far": _peak(made),
        }
        ended = asyncio.create_task(all_are(hub, CLUSTER_SCOPE.run, runs, _has_ended))
        await in_parallel(
            fleets, lambda fleet: fleet.placement.approve(f"{fleet.name}-run-after-first")
        )
        await ended
        return figures | {"memory when all have ended": _mib(made), "most of all": _peak(made)}


def _spread(members: list[str], number: int, clusters: int) -> Iterable[str]:
    """Clusters of one of many placements: as many on each member."""
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


def _mib(made: World) -> str:
    return f"{made.usage()[ENGINE].memory_mib:.0f} MiB"


def _peak(made: World) -> str:
    return f"{made.usage()[ENGINE].most_memory_mib:.0f} MiB"


def _show(name: str, figures: Figures) -> None:
    table = Table("", name, box=None)
    for each, figure in figures.items():
        table.add_row(each, figure)
    Console().print(table)


if __name__ == "__main__":
    main()
