"""A ClusterResourcePlacement and a ResourcePlacement want one object of a member.

Whoever has it keeps it, whichever of the two that is, and the other one says so. Both are followed
on a real member by its agent (contract: placement 8, 12).
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agent import Agent
from api.kinds import CLUSTER_SCOPE, CONFIG_MAP, NAMESPACE, NAMESPACED_SCOPE, Scope
from hub import Hub
from placement.room import Placement
from tests.placement.world import World
from tests.support.eventually import eventually
from tests.support.limits import PATIENT
from tests.support.running import running

Json = dict[str, Any]
ROLLING: Json = {"type": "RollingUpdate"}
ALONE = "the object is already owned by some other sources(s) and co-ownership is disallowed"
SHARED = "the object is already owned by another Fleet AppliedWork object"


class Claims:
    """Two placements of one namespace, each in its scope, and the member that they pick."""

    def __init__(self, hub: Hub, cluster: Hub, unique: str) -> None:
        self._unique = unique
        self._cluster = cluster
        self._worlds = {
            scope.name: World(hub, scope, unique) for scope in (CLUSTER_SCOPE, NAMESPACED_SCOPE)
        }

    def of(self, scope: Scope) -> World:
        """The placement of a scope."""
        return self._worlds[scope.name]

    async def clear(self) -> None:
        for world in self._worlds.values():
            await world.clear()

    async def object(self) -> Json | None:
        """What both want, as the member has it."""
        return await self._cluster.find(CONFIG_MAP, "cm", namespace=self._unique)

    async def owner(self) -> str:
        """Name of the one Work that the object is of; empty without one."""
        found = await self.object()
        owners = (found or {"metadata": {}})["metadata"].get("ownerReferences", [])
        assert len(owners) <= 1
        return owners[0]["name"] if owners else ""


@pytest.fixture
async def cluster(member_kubeconfig: Callable[[str], Awaitable[Path]]) -> AsyncIterator[Hub]:
    """The member's API server."""
    async with await Hub.connect(await member_kubeconfig("claims"), limits=PATIENT) as client:
        yield client


@pytest.fixture
async def claims(hub: Hub, room: Placement, cluster: Hub, unique: str) -> AsyncIterator[Claims]:
    """Two placements that are still to be made, and a member whose agent is at work."""
    del room
    made = Claims(hub, cluster, unique)
    world = made.of(CLUSTER_SCOPE)
    await world.prepare()
    member = await world.join("a", online=False)
    async with running(Agent(member=member, hub=hub, cluster=cluster)):
        yield made
        await made.clear()


def work_of(world: World) -> str:
    """Name of a placement's Work."""
    return ".".join(filter(None, (world.home, world.name))) + "-work"


async def failed(world: World, reason: str, words: str = "") -> Json:
    """Wait until the placement says why its one object is not applied; what it says of that."""

    async def look() -> Json | None:
        entries = ((await world.placement()) or {}).get("status", {}).get("placementStatuses", [])
        listed = [each for entry in entries for each in entry.get("failedPlacements", [])]
        said = [each["condition"] for each in listed]
        is_so = [each["reason"] for each in said] == [reason] and words in said[0]["message"]
        return listed[0] if is_so else None

    return await eventually(look)


@pytest.mark.parametrize(
    ("shared", "words"), [(False, ALONE), (True, SHARED)], ids=["alone", "shared"]
)
@pytest.mark.parametrize(
    ("first", "second"),
    [(CLUSTER_SCOPE, NAMESPACED_SCOPE), (NAMESPACED_SCOPE, CLUSTER_SCOPE)],
    ids=["cluster-first", "namespaced-first"],
)
async def test_an_object_that_both_scopes_want_stays_with_the_first(
    claims: Claims, cluster: Hub, unique: str, first: Scope, second: Scope, shared: bool, words: str
) -> None:
    has, wants = claims.of(first), claims.of(second)
    strategy = ROLLING | {"applyStrategy": {"allowCoOwnership": shared}}
    if first is NAMESPACED_SCOPE:
        await cluster.create(NAMESPACE, {"metadata": {"name": unique}})
    await has.place(strategy=strategy)
    await has.told("Available", status="True")

    await wants.place(strategy=strategy)

    entry = await failed(wants, "FailedToTakeOver")
    assert (entry["kind"], entry["name"], entry["namespace"]) == ("ConfigMap", "cm", unique)
    assert words in entry["condition"]["message"]
    said = await wants.told("Applied", status="False", reason="ApplyFailed")
    assert said["message"].startswith("Failed to apply resources to 1 cluster(s)")
    assert await claims.owner() == work_of(has)
    assert (await has.said("Available"))["status"] == "True"


async def test_what_the_namespaced_one_leaves_the_other_makes_anew(
    claims: Claims, cluster: Hub, unique: str
) -> None:
    has, wants = claims.of(NAMESPACED_SCOPE), claims.of(CLUSTER_SCOPE)
    await cluster.create(NAMESPACE, {"metadata": {"name": unique}})
    await has.place(strategy=ROLLING)
    await has.told("Available", status="True")
    await wants.place(strategy=ROLLING)
    await failed(wants, "FailedToTakeOver")

    await has.hub.delete(has.scope.placement, has.name, namespace=has.home)

    await wants.told("Available", status="True")
    assert await claims.owner() == work_of(wants)


async def test_what_the_cluster_scoped_one_leaves_needs_its_namespace_back(
    claims: Claims, cluster: Hub, unique: str
) -> None:
    has, wants = claims.of(CLUSTER_SCOPE), claims.of(NAMESPACED_SCOPE)
    await has.place(strategy=ROLLING)
    await has.told("Available", status="True")
    await wants.place(strategy=ROLLING)
    await failed(wants, "FailedToTakeOver")

    # The namespace is of the ClusterResourcePlacement, and goes with it from the member.
    await has.hub.delete(has.scope.placement, has.name)
    await failed(wants, "ManifestApplyFailed", f'namespaces "{unique}" not found')
    await cluster.create(NAMESPACE, {"metadata": {"name": unique}})

    await wants.told("Available", status="True")
    assert await claims.owner() == work_of(wants)
