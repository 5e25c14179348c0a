"""The embedded fleet: start and stop it, and inspect its processes."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from api.kinds import APPLIED_WORK
from deploy.installing import crds, policies
from deploy.local import members, worker_rights
from deploy.local.binaries import Binaries
from deploy.local.blueprint import Blueprint
from deploy.local.control_plane import ensure_control_plane
from deploy.local.errors import FleetBusy, UnknownProcess
from deploy.local.files import disk_full_explained, private_folder
from deploy.local.paths import HUB, FleetPaths
from deploy.local.processes import Processes
from deploy.local.services import Service, ensure, require_alive
from deploy.local.state import (
    ETCD,
    TEMPORAL,
    WORKER,
    FleetState,
    is_api_server,
    load,
    save,
    sized,
)
from deploy.local.status import ProcessStatus, status_of
from hub import Hub

OTHERS_MAY_TAKE: Final = timedelta(minutes=3)
"""How long to wait for another command on the same fleet."""

Say = Callable[[str], None]
"""Prints a line for the user at the terminal."""


@dataclass(frozen=True, slots=True)
class FleetAddresses:
    """The addresses of a fleet that is up."""

    hub_kubeconfig: Path
    member_kubeconfigs: dict[str, Path]
    temporal: str
    temporal_ui: str


class LocalFleet:
    """The fleet in one folder. Its methods block until the fleet is in the requested state."""

    def __init__(
        self,
        paths: FleetPaths,
        *,
        say: Say = lambda _: None,
        patience: timedelta = OTHERS_MAY_TAKE,
    ) -> None:
        self.paths = paths
        self._say = say
        self._patience = patience

    def up(
        self, binaries: Binaries, *, count: int | None = None, worker: bool = True
    ) -> FleetAddresses:
        """Start the processes of the fleet that are not running, and wait until all are ready.

        `count` is the number of members; by default 3 for a new fleet, and unchanged for an
        existing one. Raises LocalFleetError; the next `up` or `down` finds what was started
        before the error.
        """
        private_folder(self.paths.root)
        with disk_full_explained(self.paths.root), self._exclusive():
            state = self._next_state(count)
            blueprint = Blueprint(self.paths, state, binaries)
            asyncio.run(self._up(blueprint, worker=worker))
        return FleetAddresses(
            hub_kubeconfig=self.paths.kubeconfig(HUB),
            member_kubeconfigs={name: self.paths.kubeconfig(name) for name in state.members},
            temporal=blueprint.temporal().address,
            temporal_ui=blueprint.temporal_ui(),
        )

    def down(self, *, purge: bool = False) -> int:
        """Stop all processes of the fleet and return how many were running.

        `purge` also deletes its folder with all objects, history and tokens.
        """
        if not self.paths.root.is_dir():
            return 0
        with self._exclusive():
            ended = self._stop_all()
            if purge:
                shutil.rmtree(self.paths.root)
        return ended

    def status(self) -> list[ProcessStatus]:
        """Return the status of each process; empty if there is no fleet in this folder."""
        state = load(self.paths.state)
        if state is None:
            return []
        processes = self._processes()
        names = dict.fromkeys([*state.processes, *processes.names()])
        return [status_of(name, processes=processes) for name in names]

    def log(self, name: str) -> Path:
        """Return the log file of a process. Raises UnknownProcess."""
        path = self._processes().log(name) if self.paths.logs.is_dir() else None
        if path is None or not path.exists():
            known = ", ".join(one.name for one in self.status()) or "none (no fleet in this folder)"
            raise UnknownProcess(f"{name!r} has no log; processes of the fleet: {known}")
        return path

    async def _up(self, blueprint: Blueprint, *, worker: bool) -> None:
        await asyncio.gather(
            self._start(blueprint.temporal()), self._start_clusters(blueprint, worker=worker)
        )
        processes = self._processes()
        own = [blueprint.simulated_nodes()]
        if worker:
            own.append(blueprint.worker())
        else:
            await asyncio.to_thread(processes.stop, [WORKER])
        await asyncio.gather(*(self._start(service) for service in own))
        for name in blueprint.state.processes:
            if worker or name != WORKER:
                require_alive(name, processes=processes)

    async def _start_clusters(self, blueprint: Blueprint, *, worker: bool) -> None:
        await self._start(blueprint.etcd())
        clusters = blueprint.state.clusters
        await asyncio.gather(
            *(self._start_cluster(blueprint, name, worker=worker) for name in clusters)
        )

    async def _start_cluster(self, blueprint: Blueprint, name: str, *, worker: bool) -> None:
        plane = blueprint.control_plane(name)
        binaries = blueprint.binaries
        started = await ensure_control_plane(
            plane,
            api_server=binaries.api_server,
            controllers=binaries.controllers,
            processes=self._processes(),
        )
        async with await Hub.connect(plane.kubeconfig) as hub:
            if name == HUB:
                await crds.install(hub, crds.definitions())
                plane.write_worker_kubeconfig(self.paths.worker_kubeconfig)
                await self._protect(hub, worker=worker)
                await members.register(hub, blueprint.state.members)
            else:
                # The only kind that an agent stores on its member; all others are on the hub.
                await crds.install(hub, [crds.definition(APPLIED_WORK)])
        self._report(name, plane.url, started=started)

    async def _protect(self, hub: Hub, *, worker: bool) -> None:
        """Install the policies that let the hub tell people from the worker.

        Without the fleet's own worker, another engine is expected to run, with unknown rights. The
        policies would treat it as a person, so they are removed.
        """
        if worker:
            await worker_rights.grant(hub)
            await policies.install(hub)
        else:
            await policies.remove(hub)

    async def _start(self, service: Service) -> None:
        started = await ensure(service, processes=self._processes())
        self._report(service.name, service.address, started=started)

    def _report(self, name: str, address: str, *, started: bool) -> None:
        self._say(f"{name:<16} {'started' if started else 'already running'}  {address}".rstrip())

    def _next_state(self, count: int | None) -> FleetState:
        processes = self._processes()
        state = sized(load(self.paths.state), members=count).with_tokens()
        state = state.with_ports(is_running=lambda name: processes.find(name) is not None)
        private_folder(self.paths.data)
        save(self.paths.state, state)
        return state

    def _processes(self) -> Processes:
        return Processes(pids=self.paths.pids, logs=self.paths.logs)

    def _stop_all(self) -> int:
        """Stop the processes in groups, dependents first; those of a group stop in parallel."""
        processes = self._processes()
        names = processes.names()
        servers = [name for name in names if name == TEMPORAL or is_api_server(name)]
        users = [name for name in names if name not in {*servers, ETCD}]
        return sum(len(processes.stop(group)) for group in (users, servers, [ETCD]))

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        lock = FileLock(self.paths.lock, mode=0o600)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            self._say("another `fleetgate local` command is running on this fleet; waiting for it")
            self._wait_for(lock)
        try:
            yield
        finally:
            lock.release()

    def _wait_for(self, lock: FileLock) -> None:
        try:
            lock.acquire(timeout=self._patience.total_seconds())
        except Timeout as error:
            raise FleetBusy(
                f"another `fleetgate local` command still holds {self.paths.lock} after "
                f"{self._patience.total_seconds():g} s; stop it and try again"
            ) from error
