"""The processes of a benchmark: hub with an audit log, Temporal, engine, simulated members."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from api.kinds import Kind
from deploy.local import crds, ports
from deploy.local.control_plane import ControlPlane
from deploy.local.services import Service, answers, ensure
from hub import Hub, TooManyRequests
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
    """What a process has used so far."""

    cpu_seconds: float
    memory_mib: float


@dataclass
class World:
    """Everything that a benchmark runs against."""

    servers: Servers
    kubeconfig: Path
    temporal: str
    audit_log: Path
    processes: dict[str, psutil.Process]

    def usage(self) -> dict[str, Usage]:
        """What each process has used so far."""
        return {
            name: Usage(
                cpu_seconds=sum(process.cpu_times()[:2]),
                memory_mib=process.memory_info().rss / 2**20,
            )
            for name, process in self.processes.items()
        }

    def requests(self) -> Iterator[dict[str, Any]]:
        """Every request that the hub has answered so far, as its audit log has it."""
        with self.audit_log.open() as lines:
            for line in lines:
                yield json.loads(line)


@asynccontextmanager
async def world(*, delay: float) -> AsyncIterator[World]:
    """Start everything, and end it."""
    servers = Servers(Servers.make_folder())
    try:
        made = await _hub(servers)
        address = await servers.temporal_address()
        for service in (_members(made.kubeconfig, delay), _engine(made.kubeconfig, address)):
            await ensure(service, processes=servers.processes)
        yield replace(made, temporal=address, processes=_running(servers))
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
    )
    plane.prepare()
    policy, log = folder / "audit-policy.yaml", folder / "audit.log"
    policy.write_text(AUDIT_POLICY)
    service = plane.api_server(servers.binaries.api_server)
    audited = (*service.argv, f"--audit-policy-file={policy}", f"--audit-log-path={log}")
    await ensure(replace(service, argv=audited), processes=servers.processes)
    plane.write_kubeconfig()
    async with await Hub.connect(plane.kubeconfig) as hub:
        await crds.install(hub, crds.definitions())
        await asyncio.gather(*(_warm_up(hub, kind) for kind in await hub.kinds()))
    return World(servers, plane.kubeconfig, "", log, {})


async def _warm_up(hub: Hub, kind: Kind) -> None:
    """List a kind once: an API server that has just started refuses the first time, for 1 s."""
    while True:
        try:
            await hub.list(kind)
        except TooManyRequests as refused:
            await asyncio.sleep(refused.retry_after.total_seconds())
        else:
            return


def _members(kubeconfig: Path, delay: float) -> Service:
    return Service(
        name=MEMBERS,
        argv=(sys.executable, "-m", "tests.bench.simulated_members", str(kubeconfig), str(delay)),
        environment={"PYTHONPATH": str(Path.cwd())},
    )


def _engine(kubeconfig: Path, temporal: str) -> Service:
    address = f"127.0.0.1:{ports.choose()}"
    return Service(
        name=ENGINE,
        argv=(sys.executable, "worker.py"),
        environment={
            "KUBECONFIG": str(kubeconfig),
            "TEMPORAL_ADDRESS": temporal,
            "TEMPORAL_CONFIG_FILE": os.devnull,
            "FLEETGATE_RUN": "engine,bridge",
            "FLEETGATE_PLACEMENT": "external",
            "FLEETGATE_METRICS_ADDRESS": address,
        },
        ready=lambda: answers(f"http://{address}/readyz"),
    )


def _running(servers: Servers) -> dict[str, psutil.Process]:
    found = {name: servers.processes.find(name) for name in servers.processes.names()}
    return {name: running.process for name, running in found.items() if running}
