"""A hub and a Temporal with a running engine, for runs that have a history."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hub import Hub
from tests.support.servers import HUB, Servers
from tests.workflows import conftest as engines

engine, placement, temporal = engines.engine, engines.placement, engines.temporal


@pytest.fixture(scope="package")
async def hub_kubeconfig(servers: Servers) -> Path:
    """The hub of the engine."""
    return await servers.cluster(HUB)


@pytest.fixture(scope="package")
async def hub(hub_kubeconfig: Path) -> AsyncIterator[Hub]:
    """A client of that hub."""
    async with await Hub.connect(hub_kubeconfig) as client:
        yield client


@pytest.fixture(scope="package")
def reached_temporal(temporal_address: str) -> str:
    """Address of the engine's Temporal, which commands use."""
    return temporal_address
