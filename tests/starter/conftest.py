"""Typing `fleetgate …` in a test."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hub import Hub
from starter import cli
from tests.support.servers import Servers


@dataclass(frozen=True)
class Typed:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


Fleetgate = Callable[..., Coroutine[Any, Any, Typed]]


@pytest.fixture(scope="session")
async def hub_kubeconfig(servers: Servers) -> Path:
    """A hub where nothing works: no engine of another test answers what a command writes."""
    return await servers.cluster("commands")


@pytest.fixture(scope="session")
async def hub(hub_kubeconfig: Path) -> AsyncIterator[Hub]:
    """A client of that hub."""
    async with await Hub.connect(hub_kubeconfig) as client:
        yield client


@pytest.fixture
def fleetgate(
    hub_kubeconfig: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Fleetgate:
    """Type a command against the shared hub, where no Temporal can be reached."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(hub_kubeconfig))
    monkeypatch.setenv("TEMPORAL_ADDRESS", "127.0.0.1:1")

    async def typed(*arguments: str) -> Typed:
        capsys.readouterr()
        # In a thread, because a command brings its own event loop.
        code = await asyncio.to_thread(cli.run, arguments)
        out, err = capsys.readouterr()
        return Typed(code, out, err)

    return typed


@pytest.fixture
def in_folder_of_a_fleet(
    fleetgate: Fleetgate, hub_kubeconfig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The current folder is that of a local fleet, and no other hub is named."""
    monkeypatch.delenv("KUBECONFIG")
    folder = tmp_path / ".fleetgate"
    folder.mkdir()
    (folder / "hub.kubeconfig").write_text(hub_kubeconfig.read_text())
