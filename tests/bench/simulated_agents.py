"""Simulated agents: a process that acts as the agents of all members.

It keeps every MemberCluster joined and healthy, and reports every Work as applied and available
some time after it was written, so that only the hub's side is measured. Run as
`python -m tests.bench.simulated_agents KUBECONFIG SECONDS`.
"""

import asyncio
import contextlib
import sys
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from api.kinds import MEMBER_CLUSTER, WORK
from api.members import MemberCluster
from api.names import MEMBER_NAMESPACE_PREFIX
from hub import Cache, Change, Hub, Json, Key, NotFound
from planning.members import member_conditions
from tests.support.conditions import condition

HEARTBEAT: Final = timedelta(seconds=60)
AT_ONCE: Final = 20
"""Maximum number of concurrent requests."""


class SimulatedAgents:
    """Reports for all members."""

    def __init__(self, hub: Hub, *, delay: float) -> None:
        self._hub = hub
        self._delay = delay
        self._answered: dict[Key, int] = {}
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Report until cancelled."""
        members = Cache(self._hub, MEMBER_CLUSTER)
        works = Cache(self._hub, WORK, keep=lambda body: {"metadata": body["metadata"]})
        members.subscribe(self._on_member)
        works.subscribe(self._on_work)
        await asyncio.gather(members.run(), works.run(), self._beat_all(members))

    def _on_member(self, change: Change) -> None:
        if change.old is None and change.new is not None:
            self._begin(self._beat(change.new))

    def _on_work(self, change: Change) -> None:
        if change.new is None or not change.key[0].startswith(MEMBER_NAMESPACE_PREFIX):
            return
        generation = change.new["metadata"]["generation"]
        if self._answered.get(change.key) != generation:
            self._answered[change.key] = generation
            self._begin(self._answer(change.key, generation, _outcomes(change.new)))

    def _begin(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _beat_all(self, members: Cache) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT.total_seconds())
            await asyncio.gather(*(self._beat(each) for each in members.items()))

    async def _beat(self, member: Json) -> None:
        status = member_conditions.alive(MemberCluster.from_wire(member), now=datetime.now(UTC))
        body = {"metadata": {"name": member["metadata"]["name"]}, "status": status.to_wire()}
        # By server-side apply, as agents do: conditions that others set on the member stay.
        async with self._slots:
            await self._hub.apply(MEMBER_CLUSTER, body, subresource="status")

    async def _answer(self, key: Key, generation: int, outcomes: list[Json]) -> None:
        await asyncio.sleep(self._delay)
        said = [
            condition("Applied", "True", generation, reason="AllManifestsApplied"),
            condition("Available", "True", generation, reason="AllManifestsAvailable"),
        ]
        status = {"conditions": said, "manifestConditions": outcomes}
        async with self._slots:
            with contextlib.suppress(NotFound):
                await self._hub.patch(
                    WORK, key[1], {"status": status}, namespace=key[0], subresource="status"
                )


def _outcomes(work: Json) -> list[Json]:
    """Return the conditions that an agent would report for each object of a Work."""
    said = [condition("Applied", reason="Updated"), condition("Available", reason="Available")]
    return [
        {
            "identifier": {
                "ordinal": ordinal,
                "kind": manifest["kind"],
                "namespace": manifest["metadata"].get("namespace", ""),
                "name": manifest["metadata"]["name"],
            },
            "conditions": said,
        }
        for ordinal, manifest in enumerate(work["spec"]["workload"]["manifests"])
    ]


async def main(kubeconfig: Path, delay: float) -> None:
    """Report until the process is stopped."""
    async with await Hub.connect(kubeconfig, manager="simulated-agents") as hub:
        await SimulatedAgents(hub, delay=delay).run()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), float(sys.argv[2])))
