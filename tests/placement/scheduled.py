"""Helpers for the input of scheduling, and for its decisions."""

from typing import Any

from api import names
from api.kinds import MEMBER_CLUSTER
from tests.placement.world import Json, World
from tests.support.eventually import eventually


def pick_n(world: World, count: int, **others: Any) -> Json:
    """Return a policy that picks this many of the test's own members."""
    chosen = {"placementType": "PickN", "numberOfClusters": count}
    return world.pick_all() | chosen | others


async def observe(world: World, member: str, **status: Any) -> None:
    """Report the member's status."""
    await world.hub.patch(MEMBER_CLUSTER, member, {"status": status}, subresource="status")


async def taint(world: World, member: str, *keys: str) -> None:
    """Give a member these taints and no others."""
    taints = [{"key": key, "value": "yes", "effect": "NoSchedule"} for key in keys]
    await world.hub.patch(MEMBER_CLUSTER, member, {"spec": {"taints": taints}})


async def picked(world: World, *members: str) -> Json:
    """Wait until the latest policy snapshot has picked exactly these members; return it."""

    async def look() -> Json | None:
        latest = await latest_policy(world)
        decisions = (latest or {}).get("status", {}).get("targetClusters", [])
        chosen = {each["clusterName"] for each in decisions if each["selected"]}
        return latest if chosen == set(members) else None

    return await eventually(look)


async def refused(world: World, member: str, reason: str) -> None:
    """Wait until the latest policy snapshot gives this reason for not picking a member."""

    async def look() -> bool:
        decisions = ((await latest_policy(world)) or {}).get("status", {}).get("targetClusters")
        return any(
            each["clusterName"] == member and not each["selected"] and reason in each["reason"]
            for each in decisions or []
        )

    await eventually(look)


async def latest_policy(world: World) -> Json | None:
    """Return the latest policy snapshot."""
    marked = (
        each
        for each in await world.policies()
        if each["metadata"]["labels"][names.IS_LATEST_SNAPSHOT] == "true"
    )
    return next(marked, None)


async def states(world: World) -> dict[str, str]:
    """Return the state of the binding on each member, by the end of the member's name."""
    return {
        each["spec"]["targetCluster"].removeprefix(f"{world.unique}-"): each["spec"]["state"]
        for each in await world.bindings()
    }
