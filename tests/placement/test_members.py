"""Members join, leave and rejoin (contract: placement 11)."""

from api import names
from api.kinds import MEMBER_CLUSTER, NAMESPACE
from hub import Json
from tests.placement.scheduled import picked, refused, states
from tests.placement.world import World
from tests.support.conditions import condition_of
from tests.support.eventually import eventually


async def member(world: World, name: str) -> Json | None:
    return await world.hub.find(MEMBER_CLUSTER, name)


async def joined(world: World, name: str, *, status: str) -> Json:
    """Wait until a member's Joined condition has this status."""

    async def look() -> Json | None:
        found = condition_of(await member(world, name), "Joined")
        return found if found.get("status") == status else None

    return await eventually(look)


async def gone(world: World, name: str) -> None:
    async def look() -> bool:
        return await member(world, name) is None

    await eventually(look)


async def test_a_new_member_gets_a_namespace_a_label_and_a_finalizer_and_waits_for_its_agent(
    world: World,
) -> None:
    name = await world.join("a", online=False)

    said = await joined(world, name, status="Unknown")

    assert (said["reason"], said["message"]) == (
        "MemberClusterJoinStateUnknown",
        f"Member cluster {name} has not reported all the expected agents, expected 1, got 0",
    )
    body = await member(world, name)
    assert body is not None
    assert (
        condition_of(body, "ReadyToJoin")["message"] == "Member cluster is ready to join the fleet"
    )
    assert body["metadata"]["finalizers"] == [names.MEMBER_FINALIZER]
    assert body["metadata"]["labels"][names.MEMBER_NAME] == name
    namespace = await world.hub.get(NAMESPACE, names.member_namespace(name))
    assert namespace["metadata"]["labels"][names.MEMBER_NAME] == name


async def test_a_member_without_content_leaves_without_a_trace(world: World) -> None:
    name = await world.known("a")
    await world.place()
    await picked(world, name)

    await world.hub.delete(MEMBER_CLUSTER, name)
    await picked(world)
    await world.beat(name, Joined="False")
    await gone(world, name)

    assert await states(world) == {"a": "Unscheduled"}
    await world.told("Scheduled", status="True")


async def test_a_member_that_rejoins_after_its_binding_is_gone_gets_a_new_one(
    world: World,
) -> None:
    name = await world.known("a")
    await world.place()
    first = await world.binding(name)
    await world.hub.delete(MEMBER_CLUSTER, name)
    await world.beat(name, Joined="False")
    await gone(world, name)
    # This is what the deletion stage of a run does.
    await world.hub.delete(world.scope.binding, first["metadata"]["name"], namespace=world.home)

    async def without() -> bool:
        return await world.bindings() == []

    await eventually(without)

    await world.join("a")

    second = await world.binding(name)
    assert second["metadata"]["uid"] != first["metadata"]["uid"]
    assert second["spec"]["state"] == "Scheduled"
    await picked(world, name)


async def test_a_fixed_policy_picks_its_member_again(world: World) -> None:
    name, other = await world.known("a"), await world.join("b")
    await world.place(world.pick_fixed(name, other))
    await picked(world, name, other)

    await world.hub.delete(MEMBER_CLUSTER, name)
    await world.told("Scheduled", status="False")
    await refused(world, name, "cluster has left the fleet")
    await world.beat(name, Joined="False")
    await refused(world, name, f'Specified cluster "{name}" is not found')

    await world.join("a")

    await picked(world, name, other)
    await world.told("Scheduled", status="True")
    assert await states(world) == {"a": "Scheduled", "b": "Scheduled"}
