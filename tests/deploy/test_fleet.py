"""A small fleet starts, is repaired, stops, and starts again unchanged."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from filelock import FileLock

from api.kinds import CONFIG_MAP, MEMBER_CLUSTER, NAMESPACE, Kind
from deploy.local.errors import FleetBusy
from deploy.local.fleet import FleetAddresses, LocalFleet
from deploy.local.paths import FleetPaths
from deploy.local.processes import has_ended
from deploy.local.status import ProcessState
from hub import Hub
from tests.support.eventually import patience
from tests.support.servers import Servers

pytestmark = [
    pytest.mark.xdist_group("local-fleet"),
    pytest.mark.alone("they start and stop one fleet in turn"),
]

DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments", namespaced=True)


class Fleet:
    """One fleet of one member, driven without blocking the event loop."""

    def __init__(self, folder: Path, servers: Servers) -> None:
        self.local = LocalFleet(FleetPaths(folder / ".fleetgate"))
        self._servers = servers

    async def up(self, *, worker: bool = False) -> FleetAddresses:
        binaries = self._servers.binaries
        return await asyncio.to_thread(self.local.up, binaries, count=1, worker=worker)

    async def down(self, *, purge: bool = False) -> int:
        return await asyncio.to_thread(self.local.down, purge=purge)

    def pids(self) -> dict[str, int]:
        return {one.name: one.pid for one in self.local.status() if one.pid is not None}

    def states(self) -> dict[str, ProcessState]:
        return {one.name: one.state for one in self.local.status()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fleet")


@pytest.fixture(scope="module")
async def fleet(folder: Path, servers: Servers) -> AsyncIterator[Fleet]:
    made = Fleet(folder, servers)
    try:
        yield made
    finally:
        await made.down(purge=True)


@pytest.fixture
async def addresses(fleet: Fleet) -> FleetAddresses:
    return await fleet.up()


def config_map(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


async def test_up_registers_the_members_of_the_tutorials(addresses: FleetAddresses) -> None:
    async with await Hub.connect(addresses.hub_kubeconfig) as hub:
        member = await hub.get(MEMBER_CLUSTER, "member1")
        namespace = await hub.find(NAMESPACE, "fleet-member-member1")

    assert member["metadata"]["labels"] == {"environment": "canary", "order": "2"}
    assert member["spec"]["identity"]["kind"] == "User"
    assert namespace is not None


async def test_a_second_up_leaves_every_process_alone(
    fleet: Fleet, addresses: FleetAddresses
) -> None:
    before = fleet.pids()

    again = await fleet.up()

    assert fleet.pids() == before
    assert again == addresses


async def test_status_shows_a_dead_process_and_up_restarts_it(
    fleet: Fleet, addresses: FleetAddresses
) -> None:
    before = fleet.pids()
    victim = psutil.Process(before["member1-apiserver"])
    victim.kill()
    victim.wait()

    assert fleet.states()["member1-apiserver"] is ProcessState.DIED
    await fleet.up()

    after = fleet.pids()
    assert {name for name in before if after[name] != before[name]} == {"member1-apiserver"}
    async with await Hub.connect(addresses.member_kubeconfigs["member1"]) as member:
        assert await member.find(NAMESPACE, "default") is not None


async def test_up_restarts_only_the_worker_if_it_was_killed(fleet: Fleet) -> None:
    await fleet.up(worker=True)
    before = fleet.pids()
    psutil.Process(before["worker"]).kill()

    await fleet.up(worker=True)

    after = fleet.pids()
    assert {name for name in before if after[name] != before[name]} == {"worker"}


async def test_up_without_a_worker_stops_a_running_one(fleet: Fleet) -> None:
    await fleet.up(worker=True)

    await fleet.up(worker=False)

    assert fleet.states()["worker"] is ProcessState.STOPPED


async def test_deployments_on_a_member_become_available_except_with_bad_images(
    addresses: FleetAddresses, unique: str
) -> None:
    async with await Hub.connect(addresses.member_kubeconfigs["member1"]) as member:
        for name, image in ((unique, "nginx:1"), (f"{unique}-bad", "nginx:bad")):
            await member.create(DEPLOYMENT, deployment(name, image), namespace="default")

        await replicas_available(member, unique)
        bad = await member.get(DEPLOYMENT, f"{unique}-bad", namespace="default")

    assert bad["status"].get("availableReplicas", 0) == 0


async def test_objects_survive_down_and_up_and_down_leaves_no_processes(
    fleet: Fleet, addresses: FleetAddresses, unique: str
) -> None:
    async with await Hub.connect(addresses.hub_kubeconfig) as hub:
        await hub.create(CONFIG_MAP, config_map(unique), namespace="default")
    before = [psutil.Process(pid) for pid in fleet.pids().values()]

    ended = await fleet.down()

    assert ended == len(before)
    assert all(map(has_ended, before))
    assert set(fleet.states().values()) == {ProcessState.STOPPED}
    again = await fleet.up()
    assert again == addresses
    async with await Hub.connect(again.hub_kubeconfig) as hub:
        assert await hub.find(CONFIG_MAP, unique, namespace="default") is not None


async def test_everything_in_the_fleets_folder_is_accessible_only_to_its_owner(
    fleet: Fleet, addresses: FleetAddresses
) -> None:
    root = fleet.local.paths.root

    open_to_others = {
        str(path.relative_to(root))
        for path in [root, *root.rglob("*")]
        if path.exists() and path.stat().st_mode & 0o077
    }

    assert open_to_others == set()
    assert addresses.hub_kubeconfig.parent == root


async def test_a_second_command_waits_and_then_reports_that_the_fleet_is_busy(
    fleet: Fleet, addresses: FleetAddresses
) -> None:
    said: list[str] = []
    paths = fleet.local.paths
    impatient = LocalFleet(paths, say=said.append, patience=timedelta(milliseconds=100))

    with FileLock(paths.lock), pytest.raises(FleetBusy, match="still holds"):
        impatient.down()

    assert said == ["another `fleetgate local` command is running on this fleet; waiting for it"]
    assert addresses.hub_kubeconfig.exists()


async def test_purge_removes_the_folder(fleet: Fleet) -> None:
    await fleet.down(purge=True)

    assert not fleet.local.paths.root.exists()
    assert fleet.local.status() == []


def deployment(name: str, image: str) -> dict[str, Any]:
    labels = {"app": name}
    template = {
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "main", "image": image}]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
    }


async def replicas_available(member: Hub, name: str) -> None:
    async with asyncio.timeout(patience()):
        listing = await member.list(DEPLOYMENT, namespace="default", fields=f"metadata.name={name}")
        changes = member.watch(
            DEPLOYMENT,
            resource_version=listing.resource_version,
            namespace="default",
            fields=f"metadata.name={name}",
        )
        async for change in changes:
            if change.object.get("status", {}).get("availableReplicas") == 2:
                await changes.aclose()
                return
