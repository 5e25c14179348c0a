"""Commands about runs that an engine drives, on a hub of these tests' own.

Members are played by hand, so that clusters are updated when a test says so.
"""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from api.kinds import Scope
from bridge import BridgeSettings
from hub import Hub
from tests.starter.driven.rollouts import Rollout
from tests.starter.typed import Fleetgate
from tests.support.engine import engine_beside
from tests.support.hand_placement import HandPlacement
from tests.support.servers import Servers

STUCK_AFTER = timedelta(seconds=10)
"""Longer than a busy machine needs to report a cluster, short enough to wait for."""


@pytest.fixture(scope="package")
async def hub_kubeconfig(servers: Servers) -> Path:
    """A hub beside the one where no engine may answer."""
    return await servers.cluster("driven")


@pytest.fixture(scope="package")
async def hub(hub_kubeconfig: Path) -> AsyncIterator[Hub]:
    """A client of that hub."""
    async with await Hub.connect(hub_kubeconfig) as client:
        yield client


@pytest.fixture(scope="package")
async def engine(hub_kubeconfig: Path, temporal_address: str) -> AsyncIterator[None]:
    """What drives the runs."""
    settings = BridgeSettings(task_queue="driven", stuck_after=STUCK_AFTER)
    async with engine_beside(hub_kubeconfig, temporal_address, settings=settings):
        yield


@pytest.fixture(scope="package")
def reached_temporal(temporal_address: str) -> str:
    """Commands reach the Temporal of the engine."""
    return temporal_address


@pytest.fixture
def rollout(engine: None, hub: Hub, scope: Scope, fleetgate: Fleetgate, unique: str) -> Rollout:
    """A placement that is not written yet."""
    namespace = unique if scope.run.namespaced else ""
    return Rollout(HandPlacement(hub, scope, unique, namespace=namespace), fleetgate)
