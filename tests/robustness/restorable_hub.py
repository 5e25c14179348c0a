"""A hub with its own etcd, which a test can back up and restore."""

import asyncio
import secrets
import shutil
from datetime import timedelta
from pathlib import Path

from deploy.installing import crds
from deploy.local import ports
from deploy.local.control_plane import ControlPlane
from deploy.local.etcd import etcd
from deploy.local.processes import Processes
from deploy.local.services import ensure
from hub import Hub
from tests.support.servers import Servers

GRACE = timedelta(seconds=3)


class RestorableHub:
    """An API server and an etcd, both for one test only."""

    def __init__(self, servers: Servers, folder: Path) -> None:
        self._data, self._backup = folder / "etcd", folder / "backup"
        self._processes = Processes(pids=folder / "pids", logs=folder / "logs")
        self._store = etcd(
            servers.binaries.etcd,
            data=self._data,
            port=ports.choose(),
            peer_port=ports.choose(),
        )
        self._plane = ControlPlane(
            name="hub",
            folder=folder / "hub",
            kubeconfig=folder / "hub.kubeconfig",
            port=ports.choose(),
            token=secrets.token_urlsafe(),
            etcd_address=self._store.address,
        )
        self._api_server = self._plane.api_server(servers.binaries.api_server)

    @property
    def kubeconfig(self) -> Path:
        """Kubeconfig of the hub, valid before and after a restore."""
        return self._plane.kubeconfig

    async def start(self) -> None:
        """Start the hub with the current data of its etcd."""
        self._plane.prepare()
        await ensure(self._store, processes=self._processes)
        await ensure(self._api_server, processes=self._processes)
        self._plane.write_kubeconfig()

    async def install(self) -> None:
        """Install the CRDs."""
        async with await Hub.connect(self.kubeconfig) as hub:
            await crds.install(hub, crds.definitions())

    async def stop(self) -> None:
        """Stop both, the API server first, because it needs etcd for a clean shutdown."""
        for service in (self._api_server, self._store):
            await asyncio.to_thread(self._processes.stop, [service.name], grace=GRACE)

    async def back_up(self) -> None:
        """Back up the data of etcd."""
        await self.stop()
        shutil.rmtree(self._backup, ignore_errors=True)
        await asyncio.to_thread(shutil.copytree, self._data, self._backup)
        await self.start()

    async def restore(self) -> None:
        """Restore the data of etcd from the backup."""
        await self.stop()
        await asyncio.to_thread(shutil.rmtree, self._data)
        await asyncio.to_thread(shutil.copytree, self._backup, self._data)
        await self.start()
