"""Typing `fleetgate …` in a test."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Scope
from hub import Hub
from starter import cli
from tests.starter.runs import RunOnHub
from tests.starter.typed import Fleetgate, Typed
from tests.support.servers import Servers


@pytest.fixture(scope="package")
async def hub_kubeconfig(servers: Servers) -> Path:
    """A hub where nothing works: no engine of another test answers what a command writes."""
    return await servers.cluster("commands")


@pytest.fixture(scope="package")
async def hub(hub_kubeconfig: Path) -> AsyncIterator[Hub]:
    """A client of that hub."""
    async with await Hub.connect(hub_kubeconfig) as client:
        yield client


@pytest.fixture(scope="package")
def reached_temporal() -> str:
    """Address at which commands look for Temporal: nothing answers there."""
    return "127.0.0.1:1"


@pytest.fixture
def fleetgate(
    hub_kubeconfig: Path,
    reached_temporal: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Fleetgate:
    """Type a command against the hub of these tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(hub_kubeconfig))
    monkeypatch.setenv("TEMPORAL_ADDRESS", reached_temporal)

    async def typed(*arguments: str) -> Typed:
        capsys.readouterr()
        # In a thread, because a command brings its own event loop.
        code = await asyncio.to_thread(cli.run, arguments)
        out, err = capsys.readouterr()
        return Typed(code, out, err)

    return typed


@pytest.fixture(params=[CLUSTER_SCOPE, NAMESPACED_SCOPE], ids=["cluster", "namespaced"])
async def run(
    request: pytest.FixtureRequest, hub: Hub, fleetgate: Fleetgate, unique: str
) -> AsyncIterator[RunOnHub]:
    """A run that is not there yet."""
    scope: Scope = request.param
    made = RunOnHub(hub, scope, unique, fleetgate)
    yield made
    await made.remove()


@pytest.fixture
def in_folder_of_a_fleet(
    fleetgate: Fleetgate, hub_kubeconfig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The current folder is that of a local fleet, and no other hub is named."""
    monkeypatch.delenv("KUBECONFIG")
    folder = tmp_path / ".fleetgate"
    folder.mkdir()
    (folder / "hub.kubeconfig").write_text(hub_kubeconfig.read_text())
