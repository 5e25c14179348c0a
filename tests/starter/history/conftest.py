"""A hub and a Temporal where an engine works, for runs that have a history."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hub import Hub
from tests.starter.conftest import Fleetgate
from tests.support.servers import HUB, Servers
from tests.workflows import conftest as engines

engine, placement, scope, temporal = (
    engines.engine,
    engines.placement,
    engines.scope,
    engines.temporal,
)


@pytest.fixture(scope="session")
async def hub_kubeconfig(servers: Servers) -> Path:
    """The hub of the engine."""
    return await servers.cluster(HUB)


@pytest.fixture(scope="session")
async def hub(hub_kubeconfig: Path) -> AsyncIterator[Hub]:
    """A client of that hub."""
    async with await Hub.connect(hub_kubeconfig) as client:
        yield client


@pytest.fixture
def fleetgate(
    fleetgate: Fleetgate, temporal_address: str, monkeypatch: pytest.MonkeyPatch
) -> Fleetgate:
    """Type a command where Temporal answers."""
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_address)
    return fleetgate
