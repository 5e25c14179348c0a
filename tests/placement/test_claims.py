"""A ClusterResourcePlacement and a ResourcePlacement place the same object on a member.

The first one keeps it, whichever that is, and the other one reports it. The agent of a real member
applies both (contract: placement 8, 12).
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agent import Agent
from api.kinds import CLUSTER_SCOPE, CONFIG_MAP, NAMESPACE, NAMESPACED_SCOPE, Scope
from hub import Hub
from placement.built_in import BuiltInPlacement
from tests.placement.world import World
from tests.support.eventually import eventually
from tests.support.limits import PATIENT
from tests.support.running import running

Json = dict[str, Any]
ROLLING: Json = {"type": "RollingUpdate"}
ALONE = "the object is already owned by some other sources(s) and co-ownership is disallowed"
SHARED = "the object is already owned by another Fleet AppliedWork object"


class Claims:
    """Two placements of one namespace, one per scope, and the member that they pick."""

    def __init__(self, hub: Hub, cluster: Hub, unique: str) -> None:
        self._unique = unique
        self._cluster = cluster
        self._worlds = {
            scope.name: World(hub, scope, unique) for scope in (CLUSTER_SCOPE, NAMESPACED_SCOPE)
        }

    def of(self, scope: Scope) -> World:
        """Return the placement of a scope."""
        return self._worlds[scope.name]

    async def clear(self) -> None:
        for world in self._worlds.values():
            await world.clear()

    async def object(self) -> Json | None:
        """Return the object on the member that both want."""
        return await self._cluster.find(CONFIG_MAP, "cm", namespace=self._unique)

    async def owner(self) -> str:
        """Return the name of the Work that owns the object; empty if there is none."""
        found = await self.object()
        owners = (found or {"metadata": {}})["metadata"].get("ownerReferences", [])
        assert len(owners) <= 1
        return owners[0]["name"] if owners else ""


@pytest.fixture
async def cluster(member_kubeconfig: Callable[[str], Awaitable[Path]]) -> AsyncIterator[Hub]:
    """Connect to the member's API server."""
    async with await Hub.connect(await member_kubeconfig("claims"), limits=PATIENT) as client:
        yield client


@pytest.fixture
async def claims(
    hub: Hub, room: BuiltInPlacement, cluster: Hub, unique: str
) -> AsyncIterator[Claims]:
    """Prepare two placements to be created, and a member whose agent is running."""
    del room
    made = Claims(hub, cluster, unique)
    world = made.of(CLUSTER_SCOPE)
    await world.prepare()
    member = await world.join("a", online=False)
    async with running(Agent(member=member, hub=hub, cluster=cluster)):
        yield made
        await made.clear()


def work_of(world: World) -> str:
    """Return the name of a placement's Work."""
    return ".".join(filter(None, (world.home, world.name))) + "-work"


async def failed(world: World, reason: str, words: str = "") -> Json:
    """Wait until the placement reports why its one object is not applied; return the report."""

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
async def test_an_object_that_both_scopes_place_stays_with_the_first(
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


async def test_the_cluster_scoped_placement_takes_over_when_the_namespaced_one_is_deleted(
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


async def test_the_namespaced_placement_takes_over_once_its_namespace_is_back(
    claims: Claims, cluster: Hub, unique: str
) -> None:
    has, wants = claims.of(CLUSTER_SCOPE), claims.of(NAMESPACED_SCOPE)
    await has.place(strategy=ROLLING)
    await has.told("Available", status="True")
    await wants.place(strategy=ROLLING)
    await failed(wants, "FailedToTakeOver")

    # The namespace belongs to the ClusterResourcePlacement, and is deleted with it on the member.
    await has.hub.delete(has.scope.placement, has.name)
    await failed(wants, "ManifestApplyFailed", f'namespaces "{unique}" not found')
    await cluster.create(NAMESPACE, {"metadata": {"name": unique}})

    await wants.told("Available", status="True")
    assert await claims.owner() == work_of(wants)
