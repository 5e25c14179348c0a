"""Commands for runs that an engine drives, on a hub of their own.

The tests play the members, so clusters are updated when a test says so.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.kinds import Scope
from hub import Hub
from tests.starter.driven.rollouts import Rollout
from tests.starter.typed import Fleetgate
from tests.support.hand_placement import HandPlacement
from tests.support.servers import Servers


@pytest.fixture(scope="package")
async def hub_kubeconfig(servers: Servers) -> Path:
    """A hub where a worker drives every run."""
    return await servers.driven_cluster()


@pytest.fixture(scope="package")
async def hub(hub_kubeconfig: Path) -> AsyncIterator[Hub]:
    """A client of that hub."""
    async with await Hub.connect(hub_kubeconfig) as client:
        yield client


@pytest.fixture(scope="package")
def reached_temporal(temporal_address: str) -> str:
    """Address of the engine's Temporal, which commands use."""
    return temporal_address


@pytest.fixture
def rollout(hub: Hub, scope: Scope, fleetgate: Fleetgate, unique: str) -> Rollout:
    """A placement that does not exist yet."""
    namespace = unique if scope.run.namespaced else ""
    return Rollout(HandPlacement(hub, scope, unique, namespace=namespace), fleetgate)
