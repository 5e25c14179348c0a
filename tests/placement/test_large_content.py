"""Content that is too large for one object (contract: placement 5, 8)."""

import pytest

from api import names
from placement.built_in import BuiltInPlacement
from tests.placement.world import World
from tests.support.conditions import condition_of
from tests.support.eventually import eventually


async def large(world: World, *, parts: int = 3) -> None:
    """Create ConfigMaps of half a megabyte, each of which needs its own snapshot."""
    for number in range(parts):
        await world.content("x" * 500_000, name=f"big{number}")


@pytest.mark.parametrize("count", [3, 6], ids=["1.5 MB", "3 MB"])
async def test_large_content_is_stored_in_parts(world: World, count: int) -> None:
    await large(world, parts=count)
    member = await world.join("a")
    await world.place()

    snapshot = await world.snapshot(0)

    assert snapshot["metadata"]["annotations"][names.NUMBER_OF_RESOURCE_SNAPSHOTS] == str(count)

    async def complete() -> bool:
        return len(await world.snapshots()) == count

    await eventually(complete)
    parts = {each["metadata"]["name"] for each in await world.snapshots()}
    others = range(count - 1)
    assert parts == {f"{world.name}-0-snapshot", *(f"{world.name}-0-{each}" for each in others)}
    await world.roll_out(member)

    async def distributed() -> bool:
        return len(await world.works()) == count

    await eventually(distributed)
    base = f"{world.home}.{world.name}" if world.home else world.name
    works = {each["metadata"]["name"] for each in await world.works()}
    assert works == {f"{base}-work", *(f"{base}-{each}" for each in others)}


async def lose(world: World, part: str) -> str:
    """Delete a part of the content by hand; return its uid."""
    kind = world.scope.resource_snapshot
    body = await world.hub.get(kind, part, namespace=world.home)
    await world.hub.delete(kind, part, namespace=world.home)
    return str(body["metadata"]["uid"])


async def test_a_part_deleted_by_hand_is_created_again(world: World) -> None:
    await large(world)
    await world.place()
    await world.snapshot(0)
    part = f"{world.name}-0-1"
    await eventually(lambda: _part(world, part))

    lost = await lose(world, part)

    async def again() -> bool:
        return await _part(world, part) not in ("", lost)

    await eventually(again)
    assert len(await world.snapshots()) == 3


async def _part(world: World, name: str) -> str:
    """Return the uid of a part; empty if it does not exist."""
    kind = world.scope.resource_snapshot
    body = await world.hub.find(kind, name, namespace=world.home)
    return str(body["metadata"]["uid"]) if body else ""


async def test_an_incomplete_snapshot_is_not_distributed(
    world: World, room: BuiltInPlacement
) -> None:
    await large(world)
    member = await world.join("a")
    await world.place()
    await eventually(lambda: _part(world, f"{world.name}-0-1"))
    await world.content("small", name="big0")
    await world.snapshot(1)
    lost = f"{world.name}-0-1"
    await lose(world, lost)

    async def noticed() -> bool:
        known = room._stores.scopes[world.scope.name].snapshots
        return known.get((world.home, lost)) is None

    # Before the watch shows the loss, the complete content could still be distributed.
    await eventually(noticed)
    await world.roll_out(member, 0)

    body = await world.bound(member, "WorkSynchronized", status="False", reason="SyncWorkFailed")
    assert condition_of(body, "WorkSynchronized")["message"] == (
        "Failed to synchronize the work to the latest: only 2 of 3 resource snapshots of"
        f" {world.name}-0-snapshot exist"
    )
    assert await world.works() == []
