"""Simulated members: a process that reports every binding as Available some time after its rollout.

It replaces placement system, member agents and workloads, so that only the engine is measured. Run
as `python -m tests.bench.simulated_members KUBECONFIG SECONDS`.
"""

import asyncio
import sys
from pathlib import Path

from api.bindings import Binding
from api.kinds import CLUSTER_RESOURCE_BINDING
from hub import Cache, Change, Hub, Key
from planning import bindings
from tests.support.conditions import condition


class SimulatedMembers:
    """Reports on the bindings of all members."""

    def __init__(self, hub: Hub, *, delay: float) -> None:
        self._hub = hub
        self._delay = delay
        self._answered: dict[Key, int] = {}
        self._answers: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Report until cancelled."""
        cache = Cache(self._hub, CLUSTER_RESOURCE_BINDING)
        cache.subscribe(self._note)
        await cache.run()

    def _note(self, change: Change) -> None:
        if change.new is None:
            return
        binding = Binding.from_wire(change.new)
        generation = binding.metadata.generation
        if not bindings.announced(binding) or self._answered.get(change.key) == generation:
            return
        self._answered[change.key] = generation
        answer = asyncio.create_task(self._answer(binding))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)

    async def _answer(self, binding: Binding) -> None:
        await asyncio.sleep(self._delay)
        generation = binding.metadata.generation
        said = condition("Available", "True", generation, reason="AllWorkAreAvailable")
        await self._hub.apply(
            CLUSTER_RESOURCE_BINDING,
            {
                "metadata": {"name": binding.metadata.name},
                "status": {"conditions": [said]},
            },
            subresource="status",
            manager="simulated-members",
        )


async def main(kubeconfig: Path, delay: float) -> None:
    """Report until the process is stopped."""
    async with await Hub.connect(kubeconfig, manager="simulated-members") as hub:
        await SimulatedMembers(hub, delay=delay).run()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), float(sys.argv[2])))
