"""`python -m tests.bench.handovers`: how long there is no bridge when its worker ends.

Two workers share a hub. The leader is killed or stopped, and a run that is created at that moment
is picked up by the other one.
"""

import argparse
import asyncio
import os
import statistics
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Final

from api.kinds import CLUSTER_SCOPE, LEASE
from hub import Cache, Hub
from tests.hub.support import mirrored, until
from tests.robustness.worker_processes import WorkerProcess
from tests.support.eventually import eventually
from tests.support.servers import Servers

RUN = CLUSTER_SCOPE.run
SPEC: Final = {"placementName": "none", "stagedRolloutStrategyName": "none", "state": "Run"}

End = Callable[[WorkerProcess], object]
WAYS: Final[dict[str, End]] = {
    "killed (-9)": WorkerProcess.kill,
    "stopped (SIGTERM)": WorkerProcess.terminate,
}


def main() -> None:
    """Measure each kind of handover several times, and print the seconds."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.handovers", description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    asyncio.run(measure(parser.parse_args().times))


async def measure(times: int) -> None:
    """Start everything, hand over repeatedly, end everything."""
    servers = Servers(Servers.make_folder())
    os.environ["TEMPORAL_CONFIG_FILE"] = os.devnull
    try:
        kubeconfig = await servers.cluster("hub")
        temporal = await servers.temporal_address()
        pair = [
            WorkerProcess(
                kubeconfig,
                temporal,
                task_queue="handovers",
                log=servers.folder / f"worker-{number}.log",
                roles="bridge",
                identity=f"worker-{number}",
            )
            for number in range(2)
        ]
        try:
            await _measure(kubeconfig, pair, times)
        finally:
            for worker in pair:
                worker.kill()
    finally:
        await asyncio.to_thread(servers.end)


async def _measure(kubeconfig: Path, pair: list[WorkerProcess], times: int) -> None:
    async with await Hub.connect(kubeconfig) as hub:
        lease = Cache(hub, LEASE, namespace="default", fields="metadata.name=fleetgate-bridge")
        async with mirrored(lease), mirrored(Cache(hub, RUN)) as runs:
            for worker in pair:
                await worker.start()
            for way, end in WAYS.items():
                found = [await _hand_over(hub, lease, runs, pair, end) for _ in range(times)]
                _show(f"{way}: lease taken", [taken for taken, _ in found])
                _show(f"{way}: run picked up", [picked_up for _, picked_up in found])


async def _hand_over(
    hub: Hub, lease: Cache, runs: Cache, pair: list[WorkerProcess], end: End
) -> tuple[float, float]:
    """Return the seconds until the other worker has the Lease, and until it picks up a new run."""
    first = next(each for each in pair if each.identity == _holder(lease))
    second = next(each for each in pair if each is not first)
    # It may have been started again only just now.
    await _stands_by(second)
    begun = monotonic()
    ending = asyncio.create_task(asyncio.to_thread(end, first))
    name = f"run-{len(runs.items())}"
    await hub.create(RUN, {"metadata": {"name": name}, "spec": SPEC})
    await until(lease, lambda: _holder(lease) == second.identity)
    taken = monotonic() - begun
    await until(runs, lambda: _is_picked_up(runs, name))
    picked_up = monotonic() - begun
    await ending
    print(f"  taken {taken:.2f} s, picked up {picked_up:.2f} s", flush=True)  # noqa: T201
    await first.start()
    return taken, picked_up


async def _stands_by(worker: WorkerProcess) -> None:
    await eventually(worker.standing, lambda told: "bridge stands by" in told)


def _holder(lease: Cache) -> str:
    holder: str = lease.items()[0]["spec"].get("holderIdentity", "") if lease.items() else ""
    return holder


def _is_picked_up(runs: Cache, name: str) -> bool:
    run = runs.get(name)
    return run is not None and bool(run["metadata"].get("finalizers"))


def _show(what: str, seconds: list[float]) -> None:
    each = " ".join(f"{one:.2f}" for one in seconds)
    print(f"{what:45} median {statistics.median(seconds):5.2f} s   ({each})", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
