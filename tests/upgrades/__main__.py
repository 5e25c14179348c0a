"""Upgrade the worker while runs are in progress: `python -m tests.upgrades REVISION`.

Checks out the sources of an older revision, starts runs with their worker, replaces it with a
worker of the current sources while one run has a cluster in flight, one waits at a gate and one is
stopped, and checks that all of them succeed, with each cluster written once. To be run by hand
before a release, because a clone need not have the revision in its history.
"""

import asyncio
import subprocess
import sys
import tempfile
from pathlib import Path

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Scope
from hub import Hub, Json
from tests.robustness.worker_processes import ROOT, WorkerProcess
from tests.support.hand_placement import HandPlacement
from tests.support.servers import HUB, Servers
from tests.workflows.runs import reaches, started
from workflows.plugin import connect

STAGES = ("first", "second")


async def main(revision: str) -> None:
    """Start servers, upgrade, print what happens."""
    servers = Servers(Servers.make_folder())
    try:
        with tempfile.TemporaryDirectory() as folder:
            older = await asyncio.to_thread(_sources, revision, Path(folder))
            async with await Hub.connect(await servers.cluster(HUB)) as hub:
                await _upgrade(hub, servers, older)
    finally:
        servers.end()


def _sources(revision: str, folder: Path) -> Path:
    archive = subprocess.run(
        ["git", "archive", revision], cwd=ROOT, check=True, capture_output=True
    ).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
    return folder


async def _upgrade(hub: Hub, servers: Servers, older: Path) -> None:
    address = await servers.temporal_address()
    await connect({"TEMPORAL_ADDRESS": address})
    log = servers.folder / "worker.log"

    def worker(root: Path) -> WorkerProcess:
        return WorkerProcess(
            servers.folder / f"{HUB}.kubeconfig", address, "upgrade", log, root=root
        )

    old, new = worker(older), worker(ROOT)
    plays = [
        _Play(hub, scope, kind) for scope in _SCOPES for kind in ("flying", "gated", "stopped")
    ]
    try:
        await old.start()
        _say("the older worker is ready")
        await asyncio.gather(*(play.begin() for play in plays))
        old.kill()
        _say("the older worker is stopped, starting the newer one")
        await new.start()
        _say("the newer worker is ready")
        await asyncio.gather(*(play.end() for play in plays))
    finally:
        old.kill()
        new.kill()


_SCOPES = (CLUSTER_SCOPE, NAMESPACED_SCOPE)


class _Play:
    """A run with two stages of one cluster each, and a gate between them."""

    def __init__(self, hub: Hub, scope: Scope, kind: str) -> None:
        self._kind = kind
        self._name = f"{kind}-{scope.name.lower()}"
        namespace = self._name if scope.run.namespaced else ""
        self._placement = HandPlacement(hub, scope, self._name, namespace=namespace)
        self._clusters = [f"{self._name}-{stage}" for stage in STAGES]

    async def begin(self) -> None:
        """Bring the run to where the worker is replaced."""
        placement, (first, _) = self._placement, self._clusters
        await placement.create({each: {"env": each} for each in self._clusters})
        await placement.strategy(
            self._name,
            [
                {
                    "name": stage,
                    "labelSelector": {"matchLabels": {"env": cluster}},
                    "beforeStageTasks": [{"type": "Approval"}] if stage == "second" else [],
                }
                for stage, cluster in zip(STAGES, self._clusters, strict=True)
            ],
        )
        await placement.create_run(self._name, self._name, index="0")
        await started(placement, first)
        if self._kind != "flying":
            await placement.report(first)
            await reaches(placement, self._name, "UpdateRunWaiting")
        if self._kind == "stopped":
            await placement.set_state(self._name, "Stop")
            await reaches(placement, self._name, "UpdateRunStopped")
        _say(f"{self._name}: {_where(await placement.read_run(self._name))}")

    async def end(self) -> None:
        """Bring the run to its end."""
        placement, (first, second) = self._placement, self._clusters
        generation = await self._generation(first)
        if self._kind == "stopped":
            await placement.set_state(self._name, "Run")
        if self._kind == "flying":
            await placement.report(first)
        await reaches(placement, self._name, "UpdateRunWaiting")
        await placement.approve(f"{self._name}-before-second")
        await started(placement, second)
        await placement.report(second)
        run = await reaches(placement, self._name, "UpdateRunSucceeded", kind="Succeeded")
        assert await self._generation(first) == generation, f"{first} was written again"
        _say(f"{self._name}: {_where(run)}")

    async def _generation(self, cluster: str) -> int:
        generation: int = (await self._placement.read_binding(cluster))["metadata"]["generation"]
        return generation


def _where(run: Json) -> str:
    conditions = run["status"]["conditions"]
    return ", ".join(f"{each['type']}={each['status']} ({each['reason']})" for each in conditions)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
