"""Clients for the hub's tests."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hub import Hub
from tests.hub.support import QUICK


@pytest.fixture
async def quick_hub(hub_kubeconfig: Path) -> AsyncIterator[Hub]:
    """A client of the shared API server with short limits."""
    async with await Hub.connect(hub_kubeconfig, limits=QUICK) as client:
        yield client
