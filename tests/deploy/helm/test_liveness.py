"""A process whose event loop is blocked fails its liveness probe, so the kubelet restarts it.

Real processes, started and probed as defined in the charts.
"""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from http import HTTPStatus
from pathlib import Path

import aiohttp
import pytest

from api.kinds import MEMBER_CLUSTER
from deploy.local import ports
from hub import Hub
from tests.deploy.helm.charts import HUB_SIDE, MEMBER_SIDE, Helm, Json
from tests.deploy.helm.processes import command, environment
from tests.support.eventually import eventually

BLOCKED = "the event loop stands still"
FIRST = f"""
import signal, sys, threading
def stand_still(*_):
    print({BLOCKED!r}, file=sys.stderr, flush=True)
    threading.Event().wait()
signal.signal(signal.SIGUSR1, stand_still)
sys.argv[0] = "fleetgate"
from starter.cli import main
main()
"""
"""A program like `fleetgate` whose main thread, and with it the event loop, blocks on a signal."""


@pytest.fixture(params=[HUB_SIDE, MEMBER_SIDE], ids=["worker", "agent"])
async def container(
    request: pytest.FixtureRequest, helm: Helm, hub: Hub, temporal_address: str, unique: str
) -> AsyncIterator[Json]:
    """The container of a worker or an agent that can run here."""
    metrics: Json = {"metrics": {"port": ports.choose()}}
    if request.param is HUB_SIDE:
        values = metrics | {
            "temporal": {"address": temporal_address},
            "settings": {"taskQueue": unique},
        }
        deployment = helm.render(HUB_SIDE, values).one("Deployment", "fleetgate-engine")
        yield deployment["spec"]["template"]["spec"]["containers"][0]
        return
    identity = {"kind": "User", "name": unique}
    await hub.create(MEMBER_CLUSTER, {"metadata": {"name": unique}, "spec": {"identity": identity}})
    ((_, container, _),) = helm.render(MEMBER_SIDE, metrics | {"member": unique}).containers()
    yield container
    await hub.delete(MEMBER_CLUSTER, unique)


@pytest.fixture
def mounts(hub_kubeconfig: Path, tmp_path: Path) -> Path:
    (tmp_path / "hub").mkdir()
    (tmp_path / "hub" / "kubeconfig").write_text(hub_kubeconfig.read_text())
    return tmp_path


@pytest.fixture
def process(
    container: Json, hub_kubeconfig: Path, mounts: Path
) -> Iterator[subprocess.Popen[bytes]]:
    _, *arguments = command(container, mounts)
    with (mounts / "log").open("wb") as written:
        running = subprocess.Popen(
            [sys.executable, "-c", FIRST, *arguments],
            env=environment(container, hub_kubeconfig),
            stderr=written,
        )
    yield running
    running.kill()
    running.wait()


async def passes(container: Json, probe: str) -> bool:
    """Run a probe once, as the kubelet does."""
    asked = container[probe]
    (port,) = (each for each in container["ports"] if each["name"] == asked["httpGet"]["port"])
    url = f"http://127.0.0.1:{port['containerPort']}{asked['httpGet']['path']}"
    limit = aiohttp.ClientTimeout(total=asked["timeoutSeconds"])
    try:
        async with aiohttp.ClientSession(timeout=limit) as http, http.get(url) as answer:
            return answer.status == HTTPStatus.OK
    except (aiohttp.ClientError, TimeoutError):
        return False


async def test_a_process_with_a_blocked_event_loop_fails_its_liveness_probe(
    container: Json, process: subprocess.Popen[bytes], mounts: Path
) -> None:
    for probe in ("livenessProbe", "readinessProbe"):
        await eventually(lambda probe=probe: passes(container, probe))  # type: ignore[misc]
    process.send_signal(signal.SIGUSR1)
    log = mounts / "log"
    await eventually(lambda: asyncio.to_thread(log.read_text), lambda seen: BLOCKED in seen)
    # It does not answer later probes either.
    assert [await passes(container, "livenessProbe") for _ in range(2)] == [False, False]
    assert not await passes(container, "readinessProbe")
    assert process.poll() is None, "it hangs forever"


def test_the_probes_of_all_processes_are_the_same(helm: Helm) -> None:
    containers = [
        container
        for chart in (HUB_SIDE, MEMBER_SIDE)
        for each in helm.render(chart).deployments()
        for container in each["spec"]["template"]["spec"]["containers"]
    ]
    assert len(containers) > 1
    for probe in ("livenessProbe", "readinessProbe"):
        first = containers[0][probe]
        assert [each[probe] for each in containers] == [first] * len(containers)
    liveness = containers[0]["livenessProbe"]
    # A restart comes about a minute after the loop blocks, and not for a stall of a few seconds.
    assert 30 <= liveness["failureThreshold"] * liveness.get("periodSeconds", 10) <= 60
