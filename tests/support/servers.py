"""Real servers, shared by all worker processes of one test session.

The first test that needs a server starts it, under a file lock; the others use it. The session's
main process ends them all, even after Ctrl-C.
"""

import asyncio
import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from pathlib import Path

import psutil
from filelock import AsyncFileLock

from api.kinds import CUSTOM_RESOURCE_DEFINITION
from deploy.installing import crds
from deploy.local import ports
from deploy.local.binaries import Binaries
from deploy.local.control_plane import ControlPlane, ensure_control_plane
from deploy.local.errors import ProcessFailed
from deploy.local.etcd import etcd
from deploy.local.ports import LOOPBACK
from deploy.local.processes import Processes, started_after_boot
from deploy.local.services import Service, answers, ensure
from deploy.local.state import api_server, controllers
from deploy.local.temporal import temporal
from hub import Hub
from tests.support.programs import fleet_here
from tests.support.suspending import suspend

FOLDER_VARIABLE = "FLEETGATE_TEST_SERVERS"
"""Variable that passes the session's folder from the main process to its workers."""

HUB = "hub"
"""Cluster without an engine: tests read and write objects, or run an engine of their own."""
DRIVEN = "driven"
"""Cluster where a worker drives every run."""
STUCK_AFTER = timedelta(seconds=8)
"""That worker's limit: longer than a busy machine takes to report a cluster, but short to wait."""

_LOCKS: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
"""Locks by server, for tests of this process; file locks are for other processes."""
_IDLE: list["PrivateApiServer"] = []
"""API servers of this process that a test has returned."""
_WORKER = Path(__file__).parent.parent.parent / "worker.py"
_GRACE = timedelta(seconds=3)
_PREFIX = "fleetgate-tests-"
_PORTS = 3
_PORT_TAKEN = "address already in use"
_OWNER = "owner"


class Servers:
    """The servers of one test session, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes = Processes(pids=folder / "pids", logs=folder / "logs")

    @classmethod
    def make_folder(cls) -> Path:
        """Create the session's folder and set the variable for the workers."""
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        (folder / _OWNER).write_text(f"{os.getpid()} {started_after_boot(psutil.Process())}")
        os.environ[FOLDER_VARIABLE] = str(folder)
        return folder

    @classmethod
    def of_session(cls) -> "Servers":
        """Return the servers of the session that this process belongs to."""
        return cls(Path(os.environ[FOLDER_VARIABLE]))

    @cached_property
    def binaries(self) -> Binaries:
        return fleet_here()

    async def etcd_address(self) -> str:
        """Start the etcd of all API servers, once, and return its address."""
        async with self._once("etcd") as address:
            if not address.exists():
                service = etcd(
                    self.binaries.etcd,
                    data=self.folder / "etcd",
                    port=ports.choose(),
                    peer_port=ports.choose(),
                )
                await ensure(service, processes=self.processes)
                address.write_text(service.address)
            return address.read_text()

    async def cluster(self, name: str) -> Path:
        """Start a cluster with controllers and the CRDs, once, and return its kubeconfig."""
        etcd_address = await self.etcd_address()
        async with self._once(name) as marker:
            kubeconfig = self.folder / f"{name}.kubeconfig"
            if not marker.exists():
                plane = self._plane(name, etcd_address=etcd_address)
                await ensure_control_plane(
                    plane,
                    api_server=self.binaries.api_server,
                    controllers=self.binaries.controllers,
                    processes=self.processes,
                )
                async with await Hub.connect(kubeconfig) as hub:
                    await crds.install(hub, crds.definitions())
                marker.touch()
            return kubeconfig

    @asynccontextmanager
    async def own_cluster(self, name: str) -> AsyncIterator[Path]:
        """Run a cluster for this process alone while the context is open: an idle one costs CPU."""
        process = os.environ.get("PYTEST_XDIST_WORKER", "main")
        yield await self.cluster(f"{name}-{process}")
        await self._end_cluster(f"{name}-{process}")

    async def _end_cluster(self, name: str) -> None:
        async with self._once(name) as marker:
            names = [controllers(name), api_server(name)]
            await asyncio.to_thread(self.processes.stop, names, grace=_GRACE)
            marker.unlink()

    async def temporal_address(self) -> str:
        """Start a Temporal dev server, once, and return its address."""
        async with self._once("temporal") as address:
            if not address.exists():
                service = temporal(
                    self.binaries.temporal,
                    database=self.folder / "temporal.sqlite",
                    port=ports.choose(),
                    ui_port=ports.choose(),
                )
                await ensure(service, processes=self.processes)
                address.write_text(service.address)
            return address.read_text()

    async def driven_cluster(self) -> Path:
        """Start the cluster whose runs one worker drives, once, and return its kubeconfig.

        The worker is a separate process, as in production: tests that block their event loop do not
        delay it, and it takes no CPU time from a test process.
        """
        kubeconfig = await self.cluster(DRIVEN)
        temporal_address = await self.temporal_address()
        async with self._once("worker") as marker:
            if not marker.exists():
                worker = _worker(kubeconfig, temporal_address=temporal_address)
                await ensure(worker, processes=self.processes)
                marker.touch()
        return kubeconfig

    async def private_api_server(self, *arguments: str) -> "PrivateApiServer":
        """Return an API server for one test, not started yet, without controllers."""
        name = f"private-{secrets.token_hex(4)}"
        plane = self._plane(name, etcd_address=await self.etcd_address())
        return PrivateApiServer(plane, *arguments, servers=self)

    async def started_api_server(self, *arguments: str) -> "PrivateApiServer":
        """Return a started API server for one test, with additional arguments.

        It takes seconds to bind its port, which another session may take meanwhile; then retry.
        """
        for _ in range(_PORTS - 1):
            server = await self.private_api_server(*arguments)
            try:
                await server.start()
            except ProcessFailed as error:
                if _PORT_TAKEN not in str(error):
                    raise
            else:
                return server
        server = await self.private_api_server(*arguments)
        await server.start()
        return server

    @asynccontextmanager
    async def lent_api_server(self) -> AsyncIterator["PrivateApiServer"]:
        """Lend a started API server without controllers and CRDs to one test at a time.

        The test may do anything with it. If it still runs afterwards and serves no additional
        kinds, the next test of this process gets it, because starting one takes seconds.
        """
        server = _IDLE.pop() if _IDLE else await self.started_api_server()
        yield server
        if await server.is_as_new():
            _IDLE.append(server)
        else:
            await server.kill()

    @asynccontextmanager
    async def own_hub(self) -> AsyncIterator["PrivateApiServer"]:
        """Run an API server with the CRDs but without controllers, while the context is open."""
        server = await self.started_api_server()
        async with await Hub.connect(server.kubeconfig) as hub:
            await crds.install(hub, crds.definitions())
        yield server
        await server.kill()

    @classmethod
    def end_abandoned(cls) -> None:
        """End everything left behind by sessions that were killed."""
        for owner in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_OWNER}"):
            if owner.stat().st_uid == os.getuid() and not _lives(owner.read_text()):
                cls(owner.parent).end()

    def end(self) -> None:
        """End everything that the session started, and remove its folder."""
        for pids in (*self.folder.glob("*/pids"), *self.folder.glob("*/.fleetgate/pids")):
            # Includes fleets whose tests were killed.
            fleet = Processes(pids=pids, logs=pids.parent / "logs")
            fleet.stop(fleet.names(), grace=_GRACE)
        names = self.processes.names()
        stores = [name for name in names if name == "etcd"]
        # API servers cannot shut down cleanly without their etcd.
        self.processes.stop([name for name in names if name not in stores], grace=_GRACE)
        self.processes.stop(stores, grace=_GRACE)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _plane(self, name: str, *, etcd_address: str) -> ControlPlane:
        return ControlPlane(
            name=name,
            folder=self.folder / name,
            kubeconfig=self.folder / f"{name}.kubeconfig",
            port=ports.choose(),
            token=secrets.token_urlsafe(),
            etcd_address=etcd_address,
        )

    @asynccontextmanager
    async def _once(self, name: str) -> AsyncIterator[Path]:
        """Hold the lock of one server; the yielded file exists once the server runs."""
        async with _LOCKS[name], AsyncFileLock(self.folder / f"{name}.lock"):
            yield self.folder / f"{name}.started"


def _worker(kubeconfig: Path, *, temporal_address: str) -> Service:
    metrics_address = f"{LOOPBACK}:{ports.choose()}"
    settings = {
        "KUBECONFIG": str(kubeconfig),
        "TEMPORAL_ADDRESS": temporal_address,
        "FLEETGATE_RUN": "engine,bridge",
        "FLEETGATE_PLACEMENT": "external",
        # Engines of other hubs share the Temporal server.
        "FLEETGATE_TASK_QUEUE": DRIVEN,
        "FLEETGATE_STUCK_AFTER": f"{STUCK_AFTER.total_seconds():g}s",
        "FLEETGATE_METRICS_ADDRESS": metrics_address,
    }
    return Service(
        name="worker",
        argv=(sys.executable, str(_WORKER)),
        environment=settings,
        ready=lambda: answers(f"http://{metrics_address}/readyz"),
    )


def _lives(owner: str) -> bool:
    pid, _, started = owner.partition(" ")
    if not started:
        return True  # just being written
    try:
        return abs(started_after_boot(psutil.Process(int(pid))) - float(started)) < 1
    except psutil.NoSuchProcess:
        return False


class PrivateApiServer:
    """An API server that a test can stop, kill and start again."""

    def __init__(self, plane: ControlPlane, *arguments: str, servers: Servers) -> None:
        self._plane = plane
        self._servers = servers
        service = plane.api_server(servers.binaries.api_server)
        self._service = replace(service, argv=(*service.argv, *arguments))

    @property
    def kubeconfig(self) -> Path:
        return self._plane.kubeconfig

    @property
    def url(self) -> str:
        return self._plane.url

    @property
    def token(self) -> str:
        return self._plane.token

    @property
    def authority(self) -> Path:
        """Certificates to verify the server with."""
        return self._plane.authority

    async def is_as_new(self) -> bool:
        """Return whether it runs and serves no additional kinds."""
        if self._servers.processes.find(self._service.name) is None:
            return False
        async with await Hub.connect(self.kubeconfig) as hub:
            return not (await hub.list(CUSTOM_RESOURCE_DEFINITION)).items

    async def start(self) -> None:
        """Start it, or start it again at the same address with the same content."""
        self._plane.prepare()
        await ensure(self._service, processes=self._servers.processes)
        self._plane.write_kubeconfig()

    async def stop(self) -> None:
        """Shut it down cleanly."""
        names = [self._service.name]
        await asyncio.to_thread(self._servers.processes.stop, names, grace=_GRACE)

    async def kill(self) -> None:
        """Kill it."""
        running = self._servers.processes.find(self._service.name)
        if running is not None:
            running.process.kill()
            await asyncio.to_thread(running.process.wait)
        await self.stop()

    def pause(self) -> None:
        """Suspend it, without closing connections."""
        suspend(self._process().pid)

    def resume(self) -> None:
        """Resume it after `pause`."""
        self._process().send_signal(signal.SIGCONT)

    def _process(self) -> psutil.Process:
        running = self._servers.processes.find(self._service.name)
        assert running is not None
        return running.process
