"""`python -m tests.bench.interruptions`: time that a rollout loses when its engine is killed.

The engine is started again at once, or another one stands by. The members are simulated and take a
second.
"""

import argparse
import asyncio
import os
import statistics
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final

from api.kinds import CLUSTER_SCOPE
from api.reasons import ConditionType
from hub import Hub
from tests.bench.fleets import BenchFleet
from tests.bench.scenarios import connected
from tests.bench.watching import all_are
from tests.bench.world import world
from tests.support.conditions import says

DELAY: Final = 1.0
"""Seconds that a member takes."""

Interrupt = Callable[[], Awaitable[None]]


def main() -> None:
    """Measure each kind of interruption several times, and print the seconds."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.interruptions", description=__doc__
    )
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--times", type=int, default=3)
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.clusters, arguments.times))


async def measure(clusters: int, times: int) -> None:
    """Roll out without interruption, then with each kind of interruption."""
    async with world(delay=DELAY) as made, await connected(made) as hub:
        rollouts = Rollouts(hub, BenchFleet(hub, "n", clusters=clusters))
        await rollouts.fleet.create()
        await rollouts.seconds()
        whole = statistics.median([await rollouts.seconds() for _ in range(times)])
        print(f"{clusters} clusters, uninterrupted: {whole:.2f} s, load {os.getloadavg()[0]:.1f}")  # noqa: T201
        ways: dict[str, tuple[Interrupt | None, Interrupt]] = {
            "started again at once": (None, made.restart_engine),
            "with another one standing by": (made.stand_by, made.kill_engine),
        }
        for way, (prepare, interrupt) in ways.items():
            lost = []
            for _ in range(times):
                if prepare:
                    await prepare()
                took = await rollouts.seconds(interrupt=interrupt, after=0.45 * whole)
                lost.append(took - whole)
            each = " ".join(f"{one:.2f}" for one in lost)
            print(f"killed, {way}: {statistics.median(lost):.2f} s lost   ({each})", flush=True)  # noqa: T201


class Rollouts:
    """Consecutive rollouts that alternate between two snapshots."""

    def __init__(self, hub: Hub, fleet: BenchFleet) -> None:
        self.fleet = fleet
        self._hub = hub
        self._number = 0

    async def seconds(self, *, interrupt: Interrupt | None = None, after: float = 0) -> float:
        """Return the seconds of the next rollout, with `interrupt` called after so many seconds."""
        self._number += 1
        name = f"run-{self._number}"
        ended = asyncio.create_task(
            all_are(
                self._hub,
                CLUSTER_SCOPE.run,
                {name},
                lambda run: bool(says(run, ConditionType.SUCCEEDED)[0]),
            )
        )
        begun = monotonic()
        await self.fleet.start(name, index=str(self._number % 2))
        if interrupt:
            await asyncio.sleep(after)
            await interrupt()
        return (await ended)[name] - begun


if __name__ == "__main__":
    main()
