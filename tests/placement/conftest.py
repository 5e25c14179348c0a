"""A hub of this test process, with the built-in placement running on it."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from api.kinds import Scope
from hub import Hub
from placement.built_in import BuiltInPlacement
from placement.settings import PlacementSettings
from tests.placement.world import World
from tests.support.limits import PATIENT
from tests.support.running import running
from tests.support.servers import Servers

SETTINGS = PlacementSettings(
    snapshot_interval=timedelta(0),
    content_debounce=timedelta(milliseconds=50),
    status_debounce=timedelta(milliseconds=20),
)


@pytest.fixture(scope="package")
async def hub(servers: Servers) -> AsyncIterator[Hub]:
    """Connect to a hub that no other test process uses, because placements read all of it."""
    async with (
        servers.own_cluster("placement") as kubeconfig,
        await Hub.connect(kubeconfig, limits=PATIENT) as client,
    ):
        yield client


@pytest.fixture(scope="package")
async def room(hub: Hub) -> AsyncIterator[BuiltInPlacement]:
    """Run the built-in placement."""
    placement = BuiltInPlacement(hub, settings=SETTINGS)
    async with running(placement):
        yield placement


@pytest.fixture
async def world(
    hub: Hub, room: BuiltInPlacement, scope: Scope, unique: str
) -> AsyncIterator[World]:
    """Prepare a fleet, content and a placement."""
    del room
    surroundings = World(hub, scope, unique)
    await surroundings.prepare()
    yield surroundings
    await surroundings.clear()
