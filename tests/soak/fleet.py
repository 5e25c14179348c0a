"""The processes of a campaign, each of which can be killed, paused, stopped and started again.

Each of fleetgate's own processes reaches the hub through a proxy; all others connect directly.
"""

import asyncio
import os
import secrets
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Final

from deploy.installing import crds
from deploy.local import own_processes, ports
from deploy.local.control_plane import ControlPlane
from deploy.local.etcd import etcd
from deploy.local.paths import HUB
from deploy.local.processes import Processes
from deploy.local.services import Service, answers, ensure
from deploy.local.state import ETCD, TEMPORAL, api_server
from deploy.local.temporal import temporal
from hub import Hub
from tests.soak.history import AUDIT_POLICY
from tests.soak.members import PREFIX
from tests.support.fault_proxy import FaultProxy
from tests.support.servers import Servers
from tests.support.workers import ROOT

MEMBER_DELAY: Final = 0.3
"""Seconds that a simulated member takes."""
STUCK_AFTER: Final = "15s"
GRACE: Final = timedelta(seconds=90)
"""How long a process may take to exit on SIGTERM before it is killed; the time is recorded."""
PATIENCE: Final = timedelta(minutes=5)
"""How long a process may take to become ready on a machine that is busy with a campaign."""
SIMULATED_MEMBERS: Final = "simulated-members"
SIMULATED_NODES: Final = "simulated-nodes"


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The size of a fleet, and the processes of fleetgate."""

    simulated: int
    """Members whose agent is simulated."""
    real: int
    """Members with an API server and an agent."""
    roles: Mapping[str, str]
    """Fleetgate's processes by name, each with its `--run`."""
    own_etcd: bool = True
    """Whether the fleet has an etcd of its own, which may be killed, instead of the session's."""

    @property
    def stages(self) -> dict[str, tuple[str, ...]]:
        """The members of each stage, in the order in which they are updated."""
        numbered = [f"{PREFIX}-{number:02}" for number in range(self.simulated)]
        first, second = len(numbered) // 4 or 1, len(numbered) // 2 or 2
        real = tuple(f"member{number + 1}" for number in range(self.real))
        return {
            "one": (*real, *numbered[:first]),
            "two": tuple(numbered[first:second]),
            "three": tuple(numbered[second:]),
        }

    @property
    def real_members(self) -> list[str]:
        """The names of the members that have an API server."""
        return [f"member{number + 1}" for number in range(self.real)]


@dataclass
class Fleet:
    """All processes of a campaign, by name."""

    shape: Shape
    processes: Processes
    services: dict[str, Service]
    proxies: dict[str, FaultProxy]
    hub: ControlPlane
    members: dict[str, ControlPlane]
    etcd: str
    temporal: str
    down: set[str] = field(default_factory=set)
    """Processes that are down or paused on purpose."""
    troubles: list[str] = field(default_factory=list)
    """Unexpected behaviour of processes."""
    endings: dict[str, float] = field(default_factory=dict)
    """The longest time in seconds that each process took to exit on SIGTERM."""

    @property
    def own(self) -> list[str]:
        """Fleetgate's processes."""
        return list(self.shape.roles)

    def kill(self, name: str) -> None:
        """Kill a process."""
        self.down.add(name)
        self._signal(name, signal.SIGKILL)

    def pause(self, name: str) -> None:
        """Suspend a process."""
        self.down.add(name)
        self._signal(name, signal.SIGSTOP)

    def resume(self, name: str) -> None:
        """Resume a suspended process."""
        self._signal(name, signal.SIGCONT)
        self.down.discard(name)

    async def end(self, name: str) -> None:
        """Stop a process with SIGTERM, and record how long it took."""
        self.down.add(name)
        begun = monotonic()
        await asyncio.to_thread(self.processes.stop, [name], grace=GRACE)
        self.endings[name] = max(monotonic() - begun, self.endings.get(name, 0))

    async def start(self, name: str) -> None:
        """Start a process; wait for it only if it is not one of fleetgate's own."""
        service = self.services[name]
        if name in self.own:
            self.processes.stop([name])
            self.processes.start(service.command())
        else:
            await ensure(service, processes=self.processes)
        self.down.discard(name)

    async def ready(self, *names: str) -> None:
        """Wait until these processes, or all, run and are ready. Raises LocalFleetError."""
        for name in names or self.services:
            if await ensure(self.services[name], processes=self.processes):
                self.troubles.append(f"{name} ended by itself")

    def deaths(self) -> list[str]:
        """Return the processes that ended unexpectedly."""
        return [
            name
            for name in self.services
            if name not in self.down and self.processes.find(name) is None
        ]

    def _signal(self, name: str, number: signal.Signals) -> None:
        running = self.processes.find(name)
        if running is not None:
            running.process.send_signal(number)


@asynccontextmanager
async def running_fleet(shape: Shape, servers: Servers, *, seed: int) -> AsyncIterator[Fleet]:
    """Run everything while the context is open."""
    folder = servers.folder / f"soak-{secrets.token_hex(4)}"
    folder.mkdir()
    processes = Processes(pids=folder / "pids", logs=folder / "logs")
    async with AsyncExitStack() as stack:
        stack.callback(_end_all, processes)
        fleet = await _servers(shape, servers, folder, processes)
        await _start_clusters(fleet, servers)
        for name, roles in shape.roles.items():
            kubeconfig = folder / f"{name}.kubeconfig"
            fleet.proxies[name] = await stack.enter_async_context(
                FaultProxy.between(fleet.hub, kubeconfig=kubeconfig, seed=seed)
            )
            fleet.services[name] = _own_process(fleet, name, roles, kubeconfig)
        await asyncio.gather(
            *(ensure(each, processes=processes) for each in fleet.services.values())
        )
        yield fleet


async def _servers(shape: Shape, servers: Servers, folder: Path, processes: Processes) -> Fleet:
    binaries = await asyncio.to_thread(lambda: servers.binaries)
    services: dict[str, Service] = {}
    if shape.own_etcd:
        services[ETCD] = etcd(
            binaries.etcd,
            data=folder / "etcd",
            port=ports.choose(),
            peer_port=ports.choose(),
        )
        store = services[ETCD].address
    else:
        store = await servers.etcd_address()
    services[TEMPORAL] = temporal(
        binaries.temporal,
        database=folder / "temporal.sqlite",
        port=ports.choose(),
        ui_port=ports.choose(),
    )
    # In a shared etcd, clusters are kept apart by their names.
    suffix = "" if shape.own_etcd else f"-{folder.name}"
    members = {name: _plane(name + suffix, folder, store) for name in shape.real_members}
    return Fleet(
        shape=shape,
        processes=processes,
        services=services,
        proxies={},
        hub=_plane(HUB + suffix, folder, store, audit_policy=AUDIT_POLICY),
        members=members,
        etcd=store,
        temporal=services[TEMPORAL].address,
    )


def _plane(name: str, folder: Path, store: str, *, audit_policy: str = "") -> ControlPlane:
    return ControlPlane(
        name=name,
        folder=folder / name,
        kubeconfig=folder / f"{name}.kubeconfig",
        port=ports.choose(),
        token=secrets.token_urlsafe(),
        etcd_address=store,
        audit_policy=audit_policy,
    )


async def _start_clusters(fleet: Fleet, servers: Servers) -> None:
    binaries, planes = servers.binaries, [fleet.hub, *fleet.members.values()]
    await asyncio.gather(
        *(ensure(each, processes=fleet.processes) for each in fleet.services.values())
    )
    for plane in planes:
        plane.prepare()
        fleet.services[api_server(plane.name)] = plane.api_server(binaries.api_server)
    await asyncio.gather(
        *(
            ensure(fleet.services[api_server(each.name)], processes=fleet.processes)
            for each in planes
        )
    )
    for plane in planes:
        plane.write_kubeconfig()
        async with await Hub.connect(plane.kubeconfig) as client:
            await crds.install(client, crds.definitions())
    for plane in fleet.members.values():
        service = plane.controllers(binaries.controllers)
        fleet.services[service.name] = service
    if fleet.members:
        fleet.services[SIMULATED_NODES] = own_processes.simulated_nodes(
            members=_kubeconfigs(fleet), uses=()
        )
    fleet.services[SIMULATED_MEMBERS] = _simulated_members(fleet.hub.kubeconfig)


def _kubeconfigs(fleet: Fleet) -> dict[str, Path]:
    return {name: plane.kubeconfig for name, plane in fleet.members.items()}


def _simulated_members(kubeconfig: Path) -> Service:
    return Service(
        name=SIMULATED_MEMBERS,
        argv=(sys.executable, "-m", "tests.soak.members", str(kubeconfig), str(MEMBER_DELAY)),
        environment={"PYTHONPATH": str(ROOT)},
    )


def _own_process(fleet: Fleet, name: str, roles: str, kubeconfig: Path) -> Service:
    address = f"{ports.LOOPBACK}:{ports.choose()}"
    members = ",".join(f"{each}={path}" for each, path in _kubeconfigs(fleet).items())
    return Service(
        name=name,
        argv=(sys.executable, str(ROOT / "worker.py")),
        environment={
            "KUBECONFIG": str(kubeconfig),
            "TEMPORAL_ADDRESS": fleet.temporal,
            "TEMPORAL_CONFIG_FILE": os.devnull,
            "FLEETGATE_RUN": roles,
            "FLEETGATE_MEMBERS": members,
            "FLEETGATE_STUCK_AFTER": STUCK_AFTER,
            "FLEETGATE_METRICS_ADDRESS": address,
            "FLEETGATE_LOG_FORMAT": "text",
            "PYTHONUNBUFFERED": "1",
        },
        ready=lambda: answers(f"http://{address}/readyz"),
        patience=PATIENCE,
    )


def _end_all(processes: Processes) -> None:
    """Kill everything, including suspended processes."""
    for name in processes.names():
        running = processes.find(name)
        if running is not None:
            running.process.kill()
    processes.stop(processes.names())
