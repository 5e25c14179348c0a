"""`python -m tests.bench`: measure and print a table; `--json FILE` keeps the figures."""

import argparse
import asyncio
from pathlib import Path

from rich.console import Console
from rich.table import Table

from hub import Hub
from tests.bench.fleets import BenchFleet
from tests.bench.measuring import Bench, Measured, write_results
from tests.bench.world import World, world
from workflows.plugin import connect

COLUMNS = {
    "clusters": "{:.0f}",
    "wall": "{:.2f} s",
    "least": "{:.2f} s",
    "slowest_run": "{:.2f} s",
    "engine_writes_per_cluster": "{:.2f}",
    "engine_requests_per_cluster": "{:.2f}",
    "history_events": "{:.0f}",
    "history_events_per_cluster": "{:.2f}",
    "largest_status_write": "{:.0f} B",
    "engine_cpu": "{:.2f} s",
    "hub_cpu": "{:.2f} s",
    "temporal_cpu": "{:.2f} s",
    "engine_memory": "{:.0f} MiB",
    "load": "{:.1f}",
}


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--clusters", type=int, nargs="*", default=[30, 100, 1000])
    parser.add_argument(
        "--runs", type=int, default=10, help="runs of 100 clusters at once; 0: none"
    )
    parser.add_argument("--delay", type=float, default=0.2, help="seconds a simulated member takes")
    parser.add_argument("--json", type=Path, help="file for the figures")
    arguments = parser.parse_args()
    asyncio.run(measure(arguments))


async def measure(arguments: argparse.Namespace) -> None:
    """Measure in a world of its own for each size, so that none carries another's load."""
    results, extra = [], {}
    for clusters in arguments.clusters:
        results += await _one_run(clusters, arguments.delay)
    if arguments.runs:
        measured, bare = await _runs_at_once(arguments.runs, arguments.delay)
        results.append(measured)
        extra = {"bare_writer": bare, "ratio_to_bare_writer": measured.wall / bare}
    _print(results, extra)
    if arguments.json:
        write_results(arguments.json, results, extra)


async def _one_run(clusters: int, delay: float) -> list[Measured]:
    async with world(delay=delay) as made, await connected(made) as hub:
        bench = Bench(made, hub, await connect({"TEMPORAL_ADDRESS": made.temporal}), delay=delay)
        fleet = BenchFleet(hub, f"n{clusters}", clusters=clusters)
        await fleet.create()
        first = await bench.runs(f"{clusters} clusters, first", [fleet], index="0")
        return [first, await bench.runs(f"{clusters} clusters, later", [fleet], index="1")]


async def _runs_at_once(runs: int, delay: float) -> tuple[Measured, float]:
    async with world(delay=delay) as made, await connected(made) as hub:
        bench = Bench(made, hub, await connect({"TEMPORAL_ADDRESS": made.temporal}), delay=delay)
        fleets = [BenchFleet(hub, f"f{number}", clusters=100) for number in range(runs)]
        for fleet in fleets:
            await fleet.create()
        measured = await bench.runs(f"{runs} runs of 100", fleets, index="0")
        return measured, await bench.bare(fleets, index="1")


async def connected(made: World) -> Hub:
    """A client of the benchmark's own, told from the engine's by its name."""
    return await Hub.connect(made.kubeconfig, manager="bench")


def _print(results: list[Measured], extra: dict[str, float]) -> None:
    table = Table(box=None)
    table.add_column("")
    for result in results:
        table.add_column(result.name, justify="right")
    for name, form in COLUMNS.items():
        figures = (form.format(getattr(result, name)) for result in results)
        table.add_row(name.replace("_", " "), *figures)
    Console().print(table)
    for name, value in extra.items():
        print(f"{name.replace('_', ' ')}: {value:.2f}")  # noqa: T201


if __name__ == "__main__":
    main()
