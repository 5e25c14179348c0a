"""An engine and a bridge on real servers, and a hand-made placement."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from temporalio.client import Client

from api.kinds import Scope
from bridge import BridgeSettings
from hub import Hub
from tests.support.engine import engine_beside
from tests.support.hand_placement import HandPlacement
from workflows.plugin import connect


@pytest.fixture(scope="package")
async def temporal(temporal_address: str) -> Client:
    """A client of the shared Temporal server."""
    return await connect({"TEMPORAL_ADDRESS": temporal_address})


@pytest.fixture(scope="package")
async def engine(hub_kubeconfig: Path, temporal_address: str) -> AsyncIterator[None]:
    """Run worker and bridge; those of several test processes share the work, as in production."""
    async with engine_beside(hub_kubeconfig, temporal_address, settings=BridgeSettings()):
        yield


@pytest.fixture
def placement(hub: Hub, scope: Scope, unique: str) -> HandPlacement:
    """A placement that is not on the hub yet."""
    return HandPlacement(hub, scope, unique, namespace=unique if scope.run.namespaced else "")
