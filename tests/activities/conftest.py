"""Fixtures for activities on a real API server, called as a worker calls them."""

from collections.abc import AsyncIterator

import pytest

from activities.snapshots import SnapshotActivities
from api.kinds import Scope
from hub import Hub
from planning.placements.selecting import SelectionRules
from tests.activities.content import Content
from tests.support.hand_overrides import HandOverrides


@pytest.fixture
async def content(hub: Hub, scope: Scope, unique: str) -> Content:
    """The content of a placement that has no snapshots yet."""
    content = Content(hub, scope, unique)
    await content.prepare()
    return content


@pytest.fixture
async def overrides(hub: Hub) -> AsyncIterator[HandOverrides]:
    """Override snapshots written by hand, which are deleted after the test."""
    hand = HandOverrides(hub)
    yield hand
    await hand.clear()


@pytest.fixture
def snapshots(hub: Hub) -> SnapshotActivities:
    """The activities for snapshots."""
    return SnapshotActivities(hub, rules=SelectionRules())
