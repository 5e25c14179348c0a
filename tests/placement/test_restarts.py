"""What happens while the built-in placement is away is done when it is back."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from api.kinds import MEMBER_CLUSTER, SCOPES, ScopeName
from hub import Hub
from placement.room import Placement
from tests.placement.conftest import SETTINGS
from tests.placement.world import World
from tests.support.eventually import eventually
from tests.support.servers import Servers

pytestmark = pytest.mark.alone("placements come and go on one hub, in turn")


@contextlib.asynccontextmanager
async def at_work(hub: Hub) -> AsyncIterator[Placement]:
    """The built-in placement for the time of a block."""
    room = Placement(hub, settings=SETTINGS)
    running = asyncio.create_task(room.run())
    await room.ready()
    yield room
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running


@pytest.fixture
async def away(servers: Servers) -> AsyncIterator[Hub]:
    """A hub on which the built-in placement is not always there."""
    async with await Hub.connect(await servers.cluster("placement-away")) as hub:
        yield hub


@pytest.mark.parametrize("scope", list(ScopeName))
async def test_a_placement_that_was_away_catches_up(
    away: Hub, unique: str, scope: ScopeName
) -> None:
    world = World(away, SCOPES[scope], unique)
    await world.prepare()
    async with at_work(away):
        stays, leaves = await world.join("stays"), await world.join("leaves")
        await world.place()
        await world.snapshot(0)
        await asyncio.gather(world.binding(stays), world.binding(leaves))

    await world.content("value2")
    await world.roll_out(stays)
    await world.hub.delete(MEMBER_CLUSTER, leaves)
    joins = await world.join("joins")

    async with at_work(away):
        await world.snapshot(1)
        await world.binding(joins)
        await eventually(lambda: world.work(stays))
        await eventually(lambda: _given_up(world, leaves))
        await world.report(stays)
        await world.bound(stays, "Available", status="True")
        await _end(world)


async def test_nothing_is_written_when_nothing_has_changed(away: Hub, unique: str) -> None:
    world = World(away, SCOPES[ScopeName.CLUSTER], unique)
    await world.prepare()
    async with at_work(away):
        member = await world.join("a")
        await world.place()
        await world.snapshot(0)
        await world.roll_out(member)
        await world.report(member)
        await world.told("Available", status="True")
        await _quiet(away)
    before = await _everything(world)

    async with at_work(away) as room:
        await room.ready()
        await _quiet(away)
        assert await _everything(world) == before
        await _end(world)


async def _end(world: World) -> None:
    """Clear up to the last member: the scheduling of the next test would see it leave."""
    await world.clear()
    await eventually(lambda: _without_members(world))


async def _without_members(world: World) -> bool:
    listed = await world.hub.list(MEMBER_CLUSTER, labels=f"test={world.unique}")
    return not listed.items


async def _everything(world: World) -> list[object]:
    versions = [await world.placement(), *await world.policies(), *await world.snapshots()]
    versions += [*await world.bindings(), *await world.works()]
    return [each["metadata"]["resourceVersion"] for each in versions if each]


async def _quiet(hub: Hub) -> None:
    """Wait until the room has asked for nothing for a second."""
    asked = -1
    while asked != hub.requests.total():
        asked = hub.requests.total()
        await asyncio.sleep(1)


async def _given_up(world: World, member: str) -> bool:
    return bool((await world.binding(member))["spec"]["state"] == "Unscheduled")
