"""A cluster that joins, and the commands for it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from api.kinds import MEMBER_CLUSTER
from deploy.joining import on_member
from hub import Hub, NotFound
from tests.starter.typed import Fleetgate, Typed
from tests.support.servers import Servers

Member = Callable[..., Awaitable[Typed]]
"""Runs `fleetgate member …`."""


@pytest.fixture(scope="package")
async def joining_kubeconfig(servers: Servers) -> AsyncIterator[Path]:
    """Kubeconfig of an administrator of the cluster that joins, without controllers."""
    server = await servers.started_api_server()
    yield server.kubeconfig
    await server.kill()


@pytest.fixture(scope="package")
async def joining_cluster(joining_kubeconfig: Path) -> AsyncIterator[Hub]:
    async with await Hub.connect(joining_kubeconfig, manager="test") as client:
        yield client


@pytest.fixture
def both(hub_kubeconfig: Path, joining_kubeconfig: Path, tmp_path: Path) -> Path:
    """A kubeconfig with the contexts `hub`, which is current, and `joining`."""
    merged: dict[str, list[object]] = {"clusters": [], "users": [], "contexts": []}
    for name, path in (("hub", hub_kubeconfig), ("joining", joining_kubeconfig)):
        found = yaml.safe_load(path.read_text())
        merged["clusters"].append({**found["clusters"][0], "name": name})
        merged["users"].append({**found["users"][0], "name": name})
        merged["contexts"].append({"name": name, "context": {"cluster": name, "user": name}})
    path = tmp_path / "both.kubeconfig"
    path.write_text(yaml.safe_dump(merged | {"current-context": "hub"}))
    return path


@pytest.fixture
async def member(
    fleetgate: Fleetgate, both: Path, hub: Hub, joining_cluster: Hub, unique: str
) -> AsyncIterator[Member]:
    """A function that runs `fleetgate member …` where the test's cluster is no member yet."""

    async def typed(*arguments: str) -> Typed:
        return await fleetgate("member", *arguments, "--kubeconfig", str(both))

    yield typed
    await on_member.clear(joining_cluster, unique, say=lambda _: None)
    with suppress(NotFound):
        await hub.delete(MEMBER_CLUSTER, unique)


def admins_token(kubeconfig: Path) -> str:
    """The token of an administrator, which no agent must get."""
    token: str = yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]["token"]
    return token
