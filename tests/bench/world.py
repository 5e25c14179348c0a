"""The processes of a benchmark: hub with an audit log, Temporal, engine, simulated members."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from deploy.installing import crds
from deploy.local import ports
from deploy.local.control_plane import ControlPlane
from deploy.local.services import Service, answers, ensure
from hub import Hub
from tests.support.servers import Servers

AUDIT_POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  verbs: [patch]
  resources:
  - {group: placement.kubernetes-fleet.io, resources: [clusterstagedupdateruns/status]}
- level: Metadata
"""
ENGINE, MEMBERS, HUB_SERVER = "engine", "simulated-members", "hub"


@dataclass(frozen=True)
class Usage:
    """CPU time and memory that a process has used so far."""

    cpu_seconds: float
    memory_mib: float
    most_memory_mib: float
    """Peak memory since the process started."""


@dataclass(frozen=True)
class Cast:
    """The processes of a benchmark."""

    simulation: str
    """Module of the process that simulates the members."""
    roles: str
    """Roles of fleetgate."""
    placement: str = "external"


ENGINE_ALONE = Cast("tests.bench.simulated_members", roles="engine,bridge")
PLACEMENT_ALONE = Cast("tests.bench.simulated_agents", roles="placement", placement="builtin")
ALL_ROLES = Cast(
    "tests.bench.simulated_agents", roles="engine,bridge,placement", placement="builtin"
)


@dataclass
class World:
    """Everything that a benchmark runs against."""

    servers: Servers
    kubeconfig: Path
    audit_log: Path
    temporal: str = ""
    engine: Service | None = None
    spare: Service | None = None
    """A second fleetgate, which runs only after `stand_by`."""
    processes: dict[str, psutil.Process] = field(default_factory=dict)

    async def restart_engine(self) -> None:
        """Kill fleetgate and start it again; return when it is ready."""
        assert self.engine
        await self.kill_engine()
        await self._start(self.engine)

    async def kill_engine(self) -> None:
        """Kill fleetgate; the spare, if it stands by, is the engine from then on."""
        assert self.engine
        process = self.processes.pop(self.engine.name)
        process.kill()
        await asyncio.to_thread(process.wait)
        if self.spare and self.spare.name in self.processes:
            self.engine, self.spare = self.spare, self.engine

    async def stand_by(self) -> None:
        """Start the spare fleetgate next to the engine; return when it is ready."""
        assert self.spare
        await self._start(self.spare)

    async def _start(self, service: Service) -> None:
        await ensure(service, processes=self.servers.processes)
        self.processes = _running(self.servers)

    def usage(self) -> dict[str, Usage]:
        """Return what each process has used so far."""
        return {
            name: Usage(
                cpu_seconds=sum(process.cpu_times()[:2]),
                memory_mib=process.memory_info().rss / 2**20,
                most_memory_mib=_most_memory(process.pid),
            )
            for name, process in self.processes.items()
        }

    def requests(self) -> Iterator[dict[str, Any]]:
        """Yield every request that the hub has answered so far, from its audit log."""
        with self.audit_log.open() as lines:
            for line in lines:
                yield json.loads(line)


@asynccontextmanager
async def world(*, delay: float, cast: Cast = ENGINE_ALONE) -> AsyncIterator[World]:
    """Run everything while the context is open."""
    servers = Servers(Servers.make_folder())
    try:
        made = await _hub(servers)
        made.temporal = await servers.temporal_address()
        made.engine = _engine(ENGINE, made.kubeconfig, made.temporal, cast)
        made.spare = _engine(f"{ENGINE}-spare", made.kubeconfig, made.temporal, cast)
        for service in (_members(made.kubeconfig, delay, cast), made.engine):
            await ensure(service, processes=servers.processes)
        made.processes = _running(servers)
        yield made
    finally:
        await asyncio.to_thread(servers.end)


@asynccontextmanager
async def hub_alone() -> AsyncIterator[World]:
    """Run a hub with nothing else while the context is open."""
    servers = Servers(Servers.make_folder())
    try:
        yield await _hub(servers)
    finally:
        await asyncio.to_thread(servers.end)


async def _hub(servers: Servers) -> World:
    folder = servers.folder
    plane = ControlPlane(
        name=HUB_SERVER,
        folder=folder / HUB_SERVER,
        kubeconfig=folder / "hub.kubeconfig",
        port=ports.choose(),
        token="benchmark",
        etcd_address=await servers.etcd_address(),
        audit_policy=AUDIT_POLICY,
    )
    plane.prepare()
    await ensure(plane.api_server(servers.binaries.api_server), processes=servers.processes)
    plane.write_kubeconfig()
    async with await Hub.connect(plane.kubeconfig) as hub:
        await crds.install(hub, crds.definitions())
    return World(servers, plane.kubeconfig, plane.audit_log)


def _most_memory(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _members(kubeconfig: Path, delay: float, cast: Cast) -> Service:
    return Service(
        name=MEMBERS,
        argv=(sys.executable, "-m", cast.simulation, str(kubeconfig), str(delay)),
        environment={"PYTHONPATH": str(Path.cwd())},
    )


def _engine(name: str, kubeconfig: Path, temporal: str, cast: Cast) -> Service:
    address = f"127.0.0.1:{ports.choose()}"
    return Service(
        name=name,
        argv=(sys.executable, "worker.py"),
        environment={
            "KUBECONFIG": str(kubeconfig),
            "TEMPORAL_ADDRESS": temporal,
            "TEMPORAL_CONFIG_FILE": os.devnull,
            "FLEETGATE_RUN": cast.roles,
            "FLEETGATE_PLACEMENT": cast.placement,
            "FLEETGATE_METRICS_ADDRESS": address,
        },
        ready=lambda: answers(f"http://{address}/readyz"),
    )


def _running(servers: Servers) -> dict[str, psutil.Process]:
    found = {name: servers.processes.find(name) for name in servers.processes.names()}
    return {name: running.process for name, running in found.items() if running}
