"""`python -m tests.bench`: measure and print a table; `--json FILE` saves the figures."""

import argparse
import asyncio
import signal
from pathlib import Path

from tests.bench import scenarios, typing_commands
from tests.bench.tables import Result, keep, show


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--clusters", type=int, nargs="*", default=[30, 100, 1000])
    parser.add_argument(
        "--runs", type=int, default=10, help="runs of 100 clusters at once; 0: none"
    )
    parser.add_argument(
        "--placements", type=int, default=100, help="placements, and clusters for them; 0: none"
    )
    parser.add_argument(
        "--placed", type=int, default=100, help="clusters of a run with everything; 0: none"
    )
    parser.add_argument(
        "--members", type=int, default=1000, help="members of a process that is killed; 0: none"
    )
    parser.add_argument("--works", type=int, default=500, help="Works of one agent; 0: none")
    parser.add_argument(
        "--typed", type=int, default=5, help="times that each short command is run; 0: none"
    )
    parser.add_argument("--delay", type=float, default=0.2, help="seconds a simulated member takes")
    parser.add_argument("--json", type=Path, help="file for the figures")
    arguments = parser.parse_args()
    # Like Ctrl-C, so that a time limit leaves no server behind either.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    asyncio.run(measure(arguments))


async def measure(arguments: argparse.Namespace) -> None:
    """Measure everything requested, one after the other."""
    results: list[Result] = []
    extra: dict[str, float] = {}
    for clusters in arguments.clusters:
        results += await scenarios.one_run(clusters, arguments.delay)
    if arguments.runs:
        measured, bare = await scenarios.runs_at_once(arguments.runs, arguments.delay)
        results.append(measured)
        extra = {"bare_writer": bare, "ratio_to_bare_writer": measured.wall / bare}
    if arguments.placements:
        results += await scenarios.placements(arguments.placements, arguments.delay)
    if arguments.placed:
        results += await scenarios.whole_rollout(arguments.placed, arguments.delay)
    if arguments.members:
        results += await scenarios.restart(arguments.members, arguments.delay)
    if arguments.works:
        results += await scenarios.works(arguments.works)
    if arguments.typed:
        results += await typing_commands.commands(arguments.typed)
    show(results, extra)
    if arguments.json:
        keep(arguments.json, results, extra)


if __name__ == "__main__":
    main()
