"""A process that acts as the agents of simulated members.

It keeps their MemberClusters joined, and reports each of their Works as applied, and as available
unless an image in it cannot be pulled. Its reports depend only on the current state, so that no
fault of the hub makes it forget one. Run as `python -m tests.soak.members KUBECONFIG SECONDS`.
"""

import asyncio
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from api import names
from api.kinds import MEMBER_CLUSTER, WORK
from api.members import MemberCluster
from deploy.local.simulated_pods import cannot_be_pulled
from hub import Cache, Change, Controller, Hub, Json, Key, NotFound
from planning.members import member_conditions
from tests.support.conditions import condition, condition_of

PREFIX: Final = "simulated"
"""Prefix of a simulated member's name."""
HEARTBEAT: Final = timedelta(seconds=60)
_WORKERS: Final = 8


def images(work: Json) -> list[str]:
    """Return the images of all containers in a Work."""
    return [
        container["image"]
        for manifest in work["spec"].get("workload", {}).get("manifests", [])
        for container in manifest.get("spec", {})
        .get("template", {})
        .get("spec", {})
        .get("containers", [])
    ]


class SimulatedMembers:
    """Reports for all simulated members."""

    def __init__(self, hub: Hub, *, delay: timedelta) -> None:
        self._hub = hub
        self._delay = delay
        self._due: dict[Key, tuple[int, datetime]] = {}
        self._members, self._works = Cache(hub, MEMBER_CLUSTER), Cache(hub, WORK)
        self._beats = Controller("heartbeats", self._beat, workers=_WORKERS)
        self._answers = Controller("works", self._answer, workers=_WORKERS)

    async def run(self) -> None:
        """Report until cancelled."""
        self._members.subscribe(self._on_member)
        self._works.subscribe(self._on_work)
        await asyncio.gather(
            self._members.run(), self._works.run(), self._beats.run(), self._answers.run()
        )

    def _on_member(self, change: Change) -> None:
        if change.key[1].startswith(PREFIX) and change.old is None:
            self._beats.queue.add(change.key)

    def _on_work(self, change: Change) -> None:
        if change.key[0].startswith(names.member_namespace(PREFIX)):
            self._answers.queue.add(change.key)

    async def _beat(self, key: Key) -> timedelta | None:
        member = self._members.get(key[1])
        if member is None:
            return None
        status = member_conditions.alive(MemberCluster.from_wire(member), now=datetime.now(UTC))
        body = {"metadata": {"name": key[1]}, "status": status.to_wire()}
        await self._hub.apply(MEMBER_CLUSTER, body, subresource="status")
        return HEARTBEAT

    async def _answer(self, key: Key) -> timedelta | None:
        namespace, name = key
        work = self._works.get(name, namespace)
        if work is None:
            self._due.pop(key, None)
            return None
        generation, now = work["metadata"]["generation"], datetime.now(UTC)
        known, due = self._due.get(key, (0, now))
        if known != generation:
            known, due = self._due[key] = (generation, now + self._delay)
        if now < due:
            return due - now
        available = not any(map(cannot_be_pulled, images(work)))
        if not _says(work, available=available):
            said = _said(generation, available=available)
            try:
                await self._hub.patch(
                    WORK, name, {"status": said}, namespace=namespace, subresource="status"
                )
            except NotFound:
                return None
        return None


def _says(work: Json, *, available: bool) -> bool:
    found = condition_of(work, "Available")
    return (found.get("observedGeneration"), found.get("status")) == (
        work["metadata"]["generation"],
        str(available),
    )


def _said(generation: int, *, available: bool) -> Json:
    reason = "AllManifestsAvailable" if available else "NotAllManifestsAvailable"
    return {
        "conditions": [
            condition("Applied", "True", generation, reason="AllManifestsApplied"),
            condition("Available", str(available), generation, reason=reason),
        ],
        "manifestConditions": [],
    }


async def main(kubeconfig: Path, delay: timedelta) -> None:
    """Report until the process is stopped."""
    async with await Hub.connect(kubeconfig, manager="simulated-members") as hub:
        await SimulatedMembers(hub, delay=delay).run()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), timedelta(seconds=float(sys.argv[2]))))
