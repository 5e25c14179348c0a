"""Placements, strategies and runs for a benchmark, in the requested sizes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

from api.kinds import CLUSTER_SCOPE
from hub import Hub, Json
from tests.support.hand_placement import HandPlacement

STAGES: Final = {"first": 0.2, "second": 0.3, "third": 0.5}
"""Stages, each with its share of the clusters."""
AT_ONCE: Final = "50%"
SHARED: Final = "bench"
"""Label of members that are shared by several fleets."""
SETTING_UP: Final = 20
"""Concurrent requests while a fleet is set up, which is not measured."""


class BenchFleet:
    """A placement on clusters of its own."""

    def __init__(self, hub: Hub, name: str, *, clusters: int) -> None:
        self.name = name
        self.sizes = stage_sizes(clusters)
        self.placement = HandPlacement(hub, CLUSTER_SCOPE, name)

    async def create(self) -> None:
        """Create everything that a run needs, except the run."""
        await self.placement.create({}, versions=2)
        members = [
            (f"{self.name}-{stage}-{number:04}", {f"bench-{self.name}": stage})
            for stage, size in self.sizes.items()
            for number in range(size)
        ]
        await in_parallel(members, self._bind)
        await self._strategy(f"bench-{self.name}")

    async def register(self, member: str) -> None:
        """Register a member that several fleets share; its last digit determines its stage."""
        tenth = int(member[-1])
        stage = "first" if tenth < 2 else "second" if tenth < 5 else "third"
        await self.placement.member(member, {SHARED: stage})

    async def create_on(self, members: Iterable[str]) -> None:
        """Create everything that a run on these members needs; its first stage ends with a gate."""
        await self.placement.create({}, versions=2)
        await in_parallel(members, self.placement.binding)
        await self._strategy(SHARED, gates={"first": [{"type": "Approval"}]})

    async def _strategy(self, label: str, gates: Mapping[str, list[Json]] | None = None) -> None:
        stages = [
            {
                "name": stage,
                "labelSelector": {"matchLabels": {label: stage}},
                "maxConcurrency": AT_ONCE,
                "afterStageTasks": (gates or {}).get(stage, []),
            }
            for stage in self.sizes
        ]
        await self.placement.strategy(self.name, stages)

    async def _bind(self, member: tuple[str, dict[str, str]]) -> None:
        name, labels = member
        await self.placement.member(name, labels)
        await self.placement.binding(name)

    def waves(self) -> int:
        """Return the minimum number of clusters that a run waits for one after the other."""
        return sum(-(-size // max(1, size // 2)) for size in self.sizes.values())

    async def start(self, run: str, *, index: str) -> Json:
        """Start a run."""
        return await self.placement.create_run(run, self.name, index=index)


def stage_sizes(clusters: int) -> dict[str, int]:
    """Distribute clusters over the stages; the last one gets the remainder."""
    sizes = {stage: int(clusters * share) for stage, share in STAGES.items()}
    sizes["third"] += clusters - sum(sizes.values())
    return sizes


async def in_parallel(items: Iterable[Any], do: Callable[[Any], Awaitable[None]]) -> None:
    """Call `do` for each item, some concurrently."""
    slots = asyncio.Semaphore(SETTING_UP)

    async def one(item: Any) -> None:
        async with slots:
            await do(item)

    await asyncio.gather(*(one(item) for item in items))
