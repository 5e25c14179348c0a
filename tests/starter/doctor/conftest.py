"""`fleetgate doctor` on a hub of its own, where only what a test starts is running."""

import json
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from hub import Hub
from tests.starter.doctor.diagnosis import Diagnosis
from tests.starter.typed import Fleetgate
from tests.support.servers import Servers

Doctor = Callable[..., Coroutine[Any, Any, Diagnosis]]
GROUP = "doctor"


# First, because pytest-xdist reads the groups in the same hook.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run these tests in one process, one at a time: they check everything on their hub."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group(GROUP))
            item.add_marker(pytest.mark.alone("doctor checks everything on its hub"))


@pytest.fixture(scope="package")
async def hub_kubeconfig(servers: Servers) -> AsyncIterator[Path]:
    """A hub that a test may break."""
    async with servers.own_cluster("doctor") as kubeconfig:
        yield kubeconfig


@pytest.fixture(scope="package")
async def hub(hub_kubeconfig: Path) -> AsyncIterator[Hub]:
    """A client of that hub."""
    async with await Hub.connect(hub_kubeconfig) as client:
        yield client


@pytest.fixture(scope="package")
def reached_temporal(temporal_address: str) -> str:
    """Address of this session's Temporal, which commands use."""
    return temporal_address


@pytest.fixture
def doctor(fleetgate: Fleetgate) -> Doctor:
    """A function that runs `fleetgate doctor` and returns what it finds."""

    async def typed(*arguments: str) -> Diagnosis:
        # Enough time on a busy machine.
        ended = await fleetgate("doctor", "-o", "json", "--timeout", "60s", *arguments)
        assert ended.out, ended.err
        return Diagnosis(ended.code, json.loads(ended.out))

    return typed
