"""The benchmarks, each with processes of its own, so that none carries another's load."""

from hub import Hub
from tests.agent.support import one_of_each_kind, twenty_kilobytes
from tests.bench import agents
from tests.bench.fleets import BenchFleet
from tests.bench.measuring import Bench, Measured
from tests.bench.placing import Placed, PlacementBench, measured_restart
from tests.bench.whole import Asked, WholeBench
from tests.bench.world import ALL_ROLES, PLACEMENT_ALONE, World, world
from workflows.plugin import connect


async def one_run(clusters: int, delay: float) -> list[Measured]:
    """Measure a first run on this number of clusters, and a later one."""
    async with world(delay=delay) as made, await connected(made) as hub:
        bench = Bench(made, hub, await connect({"TEMPORAL_ADDRESS": made.temporal}), delay=delay)
        fleet = BenchFleet(hub, f"n{clusters}", clusters=clusters)
        await fleet.create()
        first = await bench.runs(f"{clusters} clusters, first", [fleet], index="0")
        return [first, await bench.runs(f"{clusters} clusters, later", [fleet], index="1")]


async def runs_at_once(runs: int, delay: float) -> tuple[Measured, float]:
    """Measure concurrent runs of 100 clusters, and the seconds of a bare writer for the same."""
    async with world(delay=delay) as made, await connected(made) as hub:
        bench = Bench(made, hub, await connect({"TEMPORAL_ADDRESS": made.temporal}), delay=delay)
        fleets = [BenchFleet(hub, f"f{number}", clusters=100) for number in range(runs)]
        for fleet in fleets:
            await fleet.create()
        measured = await bench.runs(f"{runs} runs of 100", fleets, index="0")
        return measured, await bench.bare(fleets, index="1")


async def placements(clusters: int, delay: float) -> list[Placed]:
    """Measure one placement on all clusters, then as many placements as clusters, on ten each."""
    async with world(delay=delay, cast=PLACEMENT_ALONE) as made, await connected(made) as hub:
        bench = PlacementBench(made, hub)
        members = [f"member-{number:04}" for number in range(clusters)]
        await bench.join(members)
        await bench.content("wide")
        wide = {"wide": {"placementType": "PickAll"}}
        first = await bench.place(f"1 on {clusters} clusters", wide, bindings=clusters)
        many = {}
        for number in range(clusters):
            await bench.content(f"p{number:03}")
            picked = [members[(number + step) % clusters] for step in range(10)]
            many[f"p{number:03}"] = {"placementType": "PickFixed", "clusterNames": picked}
        name = f"{clusters} on 10 each"
        return [first, await bench.place(name, many, bindings=10 * clusters)]


async def whole_rollout(clusters: int, delay: float) -> list[Asked]:
    """Count all requests on the hub for a run whose clusters the built-in placement serves.

    Returns the figures of a first run and of a later one.
    """
    async with world(delay=delay, cast=ALL_ROLES) as made, await connected(made) as hub:
        bench = WholeBench(made, hub)
        await bench.create(clusters)
        first = await bench.run(f"{clusters} clusters placed, first")
        await bench.change()
        return [first, await bench.run(f"{clusters} clusters placed, later")]


async def restart(members: int, delay: float) -> list[Placed]:
    """Measure the placement process with this number of members, and its restart after a kill."""
    async with world(delay=delay, cast=PLACEMENT_ALONE) as made, await connected(made) as hub:
        bench = PlacementBench(made, hub)
        names = [f"member-{number:04}" for number in range(members)]
        await bench.join(names)
        await bench.content("wide")
        wide = {"wide": {"placementType": "PickAll"}}
        whole = await bench.place(f"1 on {members} clusters", wide, bindings=members)
        await bench.content("after")
        after = {"after": {"placementType": "PickFixed", "clusterNames": names[:10]}}

        async def steady() -> Placed:
            return await bench.place(f"restart, {members} members", after, bindings=10)

        return [whole, await measured_restart(made, steady)]


async def works(count: int) -> list[agents.Served]:
    """Measure an agent with Works of 20 KB, and one with 100 namespaces of ten kinds each."""
    return [
        await agents.serve(f"{count} Works of 20 KB", count, twenty_kilobytes),
        await agents.serve("100 namespaces of 10 kinds", 100, one_of_each_kind),
    ]


async def connected(made: World) -> Hub:
    """Return a client for the benchmark, distinguished from the engine's by its name."""
    return await Hub.connect(made.kubeconfig, manager="bench")
