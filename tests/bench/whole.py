"""Requests on the hub for a run with everything: engine, bridge, built-in placement and agents."""

import asyncio
import os
from collections import Counter
from dataclasses import dataclass
from itertools import chain, count
from time import monotonic
from typing import Final

from api.kinds import CLUSTER_SCOPE, CONFIG_MAP, MEMBER_CLUSTER
from hub import Hub, Json
from tests.bench.fleets import AT_ONCE, in_parallel, stage_sizes
from tests.bench.measuring import ENGINE_AGENT, ended
from tests.bench.placing import PlacementBench
from tests.bench.watching import all_are
from tests.bench.world import World
from tests.support.conditions import says
from tests.support.hand_placement import LATEST, RESOURCE_INDEX, HandPlacement

NAME: Final = "wide"
"""Name of the namespace, its placement and its strategy."""
LABEL: Final = "bench-stage"
AGENTS: Final = "simulated-agents"
AFTERMATH: Final = 3.0
"""Seconds after a run in which requests still count, because statuses follow it."""


@dataclass(frozen=True)
class Asked:
    """The requests for one run, reads included, each as a figure per cluster; times in seconds."""

    name: str
    clusters: int
    wall: float
    fleetgate_requests_per_cluster: float
    """Engine, bridge and placement together."""
    agent_requests_per_cluster: float
    all_requests_per_cluster: float
    """Including the API server's own and those of the benchmark."""
    load: float


class WholeBench:
    """One placement with the strategy External, on all clusters, and runs of it."""

    def __init__(self, world: World, hub: Hub) -> None:
        self._world = world
        self._hub = hub
        self._placement = HandPlacement(hub, CLUSTER_SCOPE, NAME)
        self._versions = count()
        self._clusters = 0

    async def create(self, clusters: int) -> None:
        """Join this number of members; create content, placement and strategy."""
        self._clusters, sizes = clusters, stage_sizes(clusters)
        stages = chain.from_iterable([stage] * size for stage, size in sizes.items())
        members = {f"member-{number:04}": stage for number, stage in enumerate(stages)}
        preparing = PlacementBench(self._world, self._hub)
        await preparing.join(members)
        await in_parallel(members.items(), self._label)
        await preparing.content(NAME)
        selector = {"group": "", "version": "v1", "kind": "Namespace", "name": NAME}
        spec = {"resourceSelectors": [selector], "policy": {"placementType": "PickAll"}}
        await self._placement.place(**spec)
        await self._placement.strategy(
            NAME,
            [
                {
                    "name": stage,
                    "labelSelector": {"matchLabels": {LABEL: stage}},
                    "maxConcurrency": AT_ONCE,
                }
                for stage in sizes
            ],
        )
        await all_are(self._hub, CLUSTER_SCOPE.placement, {NAME}, _is_scheduled)

    async def _label(self, member: tuple[str, str]) -> None:
        name, stage = member
        await self._hub.patch(MEMBER_CLUSTER, name, {"metadata": {"labels": {LABEL: stage}}})

    async def change(self) -> None:
        """Change the content."""
        changed = {"data": {"changed": str(monotonic())}}
        await self._hub.patch(CONFIG_MAP, "content", changed, namespace=NAME)

    async def run(self, name: str) -> Asked:
        """Roll the next version out to all clusters, and count."""
        index = str(next(self._versions))
        scope = CLUSTER_SCOPE
        await all_are(
            self._hub,
            scope.resource_snapshot,
            {f"{NAME}-{index}-snapshot"},
            lambda snapshot: (
                snapshot["metadata"]["labels"][LATEST] == "true"
                and snapshot["metadata"]["labels"][RESOURCE_INDEX] == index
            ),
        )
        load, seen = os.getloadavg()[0], sum(1 for _ in self._world.requests())
        run = f"{NAME}-{index}"
        waiting = asyncio.create_task(all_are(self._hub, scope.run, {run}, ended))
        await asyncio.sleep(0)
        started = monotonic()
        await self._placement.create_run(run, NAME, index=index)
        finished = (await waiting)[run]
        await asyncio.sleep(AFTERMATH)
        requests = list(self._world.requests())[seen:]
        senders = Counter(each["userAgent"].partition("/")[0] for each in requests)
        return Asked(
            name=name,
            clusters=self._clusters,
            wall=finished - started,
            fleetgate_requests_per_cluster=senders[ENGINE_AGENT] / self._clusters,
            agent_requests_per_cluster=senders[AGENTS] / self._clusters,
            all_requests_per_cluster=len(requests) / self._clusters,
            load=load,
        )


def _is_scheduled(placement: Json) -> bool:
    return says(placement, f"{CLUSTER_SCOPE.placement.kind}Scheduled")[0] == "True"
