"""Two workers, one of which leads the bridge: it is killed, stopped, or suspended."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from aiohttp import web

from api.kinds import LEASE
from hub import Cache, Hub, Json
from tests.hub.support import mirrored, until
from tests.robustness.rollouts import Rollout, Rollouts
from tests.robustness.worker_processes import WorkerProcess
from tests.support.eventually import eventually
from tests.support.fault_proxy import FaultProxy
from tests.support.servers import PrivateApiServer

BRIDGE = "fleetgate-bridge"


@pytest.fixture
def workers(
    server: PrivateApiServer, temporal_address: str, unique: str, tmp_path: Path
) -> Iterator[dict[str, WorkerProcess]]:
    """Two workers that share their work; `first` can be routed through a proxy."""
    made = {
        name: WorkerProcess(
            server.kubeconfig,
            temporal_address,
            task_queue=unique,
            log=tmp_path / f"{name}.log",
            identity=f"{unique}-{name}",
        )
        for name in ("first", "second")
    }
    yield made
    for worker in made.values():
        worker.kill()


async def says(worker: WorkerProcess, text: str) -> None:
    await eventually(worker.standing, lambda told: text in told)


async def begin(workers: dict[str, WorkerProcess]) -> tuple[WorkerProcess, WorkerProcess]:
    """Start both; the first one leads."""
    first, second = workers["first"], workers["second"]
    await first.start()
    await says(first, "bridge leads")
    await second.start()
    await says(second, f"bridge stands by, {first.identity} leads")
    return first, second


async def test_a_run_continues_when_the_leading_worker_is_killed(
    pair: Rollouts, workers: dict[str, WorkerProcess]
) -> None:
    first, second = await begin(workers)
    await pair.each(lambda each: each.begin(gate=True))
    await pair.each(Rollout.at_gate)
    first.kill()
    # Only the bridge passes this on to the workflow.
    await pair.each(Rollout.approve_and_finish)
    await says(second, "bridge leads")


@pytest.mark.long("two processes; tests/wiring covers leadership")
async def test_a_worker_that_is_stopped_hands_over_and_the_run_continues(
    pair: Rollouts, workers: dict[str, WorkerProcess], hub: Hub
) -> None:
    first, second = await begin(workers)
    await pair.each(lambda each: each.begin(gate=True))
    await pair.each(Rollout.at_gate)
    holders: list[str] = []
    lease = Cache(hub, LEASE, namespace="default", fields=f"metadata.name={BRIDGE}")
    lease.subscribe(lambda change: holders.append(holder(change.new)))
    async with mirrored(lease):
        code = await asyncio.to_thread(first.terminate)
        await until(lease, lambda: second.identity in holders)
    assert code == 0
    assert list(dict.fromkeys(holders)) == [first.identity, "", second.identity]
    await pair.each(Rollout.approve_and_finish)


def holder(lease: Json | None) -> str:
    assert lease is not None
    found: str = lease["spec"]["holderIdentity"]
    return found


def about(run: Rollout) -> str:
    return f"/{run.scope.run.plural}/{run.name}"


@pytest.mark.long("two processes; tests/wiring covers the fencing of former leaders")
async def test_a_suspended_leader_writes_nothing_when_it_wakes_up(
    rollout: Rollout,
    server: PrivateApiServer,
    workers: dict[str, WorkerProcess],
    tmp_path: Path,
) -> None:
    kubeconfig = tmp_path / "proxied.kubeconfig"
    async with FaultProxy.between(server, kubeconfig=kubeconfig, seed=0) as proxy:
        workers["first"].kubeconfig = kubeconfig
        # An engine in it would still be allowed to write.
        workers["first"].roles = "bridge"
        first, second = await begin(workers)
        first.pause()
        await rollout.begin()
        await says(second, "bridge leads")
        await rollout.update("one")

        # It now learns of a run that no worker had picked up when it was suspended.
        late = proxy.trap(is_write_about(rollout), carried_out=False)
        late.released.set()
        first.resume()
        await says(first, f"bridge stands by, {second.identity} leads")
        assert not late.sprung.is_set()
        await rollout.finish()
        first.kill()


def is_write_about(rollout: Rollout) -> Callable[[web.Request], bool]:
    return lambda request: request.method != "GET" and about(rollout) in request.path
