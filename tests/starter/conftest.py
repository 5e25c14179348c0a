"""Fixtures for running `fleetgate …` in a test."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Scope
from hub import Hub
from tests.starter.runs import RunOnHub
from tests.starter.typed import Fleetgate, Printed, Typed, make_patient, type_command
from tests.support.servers import Servers


@pytest.fixture(scope="package")
async def hub_kubeconfig(servers: Servers) -> Path:
    """A hub without a worker: no engine of another test reacts to what a command writes."""
    return await servers.cluster("commands")


@pytest.fixture(scope="package")
async def hub(hub_kubeconfig: Path) -> AsyncIterator[Hub]:
    """A client of that hub."""
    async with await Hub.connect(hub_kubeconfig) as client:
        yield client


@pytest.fixture(scope="package")
def reached_temporal() -> str:
    """Address at which commands look for Temporal: nothing listens there."""
    return "127.0.0.1:1"


@pytest.fixture(scope="module")
def surroundings(
    hub_kubeconfig: Path, reached_temporal: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """The environment in which a module's commands run."""
    with pytest.MonkeyPatch.context() as process:
        process.chdir(tmp_path_factory.mktemp("typing"))
        process.setenv("KUBECONFIG", str(hub_kubeconfig))
        process.setenv("TEMPORAL_ADDRESS", reached_temporal)
        make_patient(process)
        yield


@pytest.fixture
def fleetgate(surroundings: None) -> Fleetgate:
    """A function that runs a command against the hub of these tests."""

    async def typed(*arguments: str, printed: Printed | None = None) -> Typed:
        return await type_command(arguments, printed=printed)

    return typed


@pytest.fixture(params=[CLUSTER_SCOPE, NAMESPACED_SCOPE], ids=["cluster", "namespaced"])
async def run(
    request: pytest.FixtureRequest, hub: Hub, fleetgate: Fleetgate, unique: str
) -> AsyncIterator[RunOnHub]:
    """A run that does not exist yet."""
    scope: Scope = request.param
    made = RunOnHub(hub, scope, unique, fleetgate)
    yield made
    await made.remove()


@pytest.fixture
def in_folder_of_a_fleet(
    fleetgate: Fleetgate, hub_kubeconfig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Make the current folder that of a local fleet, with no other hub configured."""
    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / ".fleetgate"
    folder.mkdir()
    (folder / "hub.kubeconfig").write_text(hub_kubeconfig.read_text())
