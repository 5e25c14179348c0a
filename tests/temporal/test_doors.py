"""A Temporal server that requires a client certificate and an API key."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from api.kinds import Scope
from deploy.local import ports
from hub import Hub
from starter import cli
from telemetry import TemporalMetrics
from tests.support.eventually import eventually, patience
from tests.support.guarded_temporal import Authority, guarded
from tests.support.hand_placement import HandPlacement
from tests.support.workers import ROOT, answers_ready
from tests.temporal.conftest import driving
from tests.workflows.runs import reaches
from wiring import Settings
from wiring.temporal import reach
from workflows.connecting import UnusableSettingsError
from workflows.plugin import connect

API_KEY = "the-right-one"


@pytest.fixture
async def let_in(authority: Authority, temporal_address: str) -> AsyncIterator[dict[str, str]]:
    """The variables with which the server accepts a client."""
    server, client = authority.issue("server"), authority.issue("client")
    async with guarded(
        temporal_address, server=server, clients_of=authority.path, api_key=API_KEY
    ) as address:
        yield {
            "TEMPORAL_ADDRESS": address,
            "TEMPORAL_API_KEY": API_KEY,
            "TEMPORAL_TLS_SERVER_CA_CERT_PATH": str(authority.path),
            "TEMPORAL_TLS_CLIENT_CERT_PATH": str(client.certificate),
            "TEMPORAL_TLS_CLIENT_KEY_PATH": str(client.key),
        }


async def test_a_run_works_and_can_be_approved_on_a_secured_temporal(
    placement: HandPlacement,
    scope: Scope,
    own_hub: Hub,
    own_kubeconfig: Path,
    let_in: dict[str, str],
    unique: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in let_in.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("KUBECONFIG", str(own_kubeconfig))
    await placement.create({unique: {"env": unique}})
    stage = {"name": "all", "labelSelector": {"matchLabels": {"env": unique}}}
    await placement.strategy(unique, [stage | {"beforeStageTasks": [{"type": "Approval"}]}])
    async with driving(own_hub, await connect(let_in), Settings(task_queue=unique)):
        await placement.create_run(unique, unique, index="0")
        await reaches(placement, unique, "UpdateRunWaiting")
        where = ["-n", placement.namespace] if scope.run.namespaced else []
        typed = ["approve", unique, "all", *where, "--no-wait"]
        assert await asyncio.to_thread(cli.run, typed) == 0, capsys.readouterr().err
        await eventually(
            lambda: placement.read_binding(unique), lambda seen: seen["spec"]["state"] == "Bound"
        )
        await placement.report(unique)
        await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")


async def test_a_worker_becomes_ready_on_a_secured_temporal(
    let_in: dict[str, str], own_kubeconfig: Path, unique: str, tmp_path: Path
) -> None:
    address = f"127.0.0.1:{ports.choose()}"
    process = _start(let_in, own_kubeconfig, unique, tmp_path / "log", address)
    try:
        await eventually(lambda: answers_ready(address))
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait, timeout=patience()) == 0
    finally:
        process.kill()
        process.wait()


async def test_a_worker_that_can_never_be_authenticated_exits(
    let_in: dict[str, str], own_kubeconfig: Path, unique: str, tmp_path: Path
) -> None:
    log, address = tmp_path / "log", f"127.0.0.1:{ports.choose()}"
    wrong = let_in | {"TEMPORAL_API_KEY": "not-the-right-one"}
    process = _start(wrong, own_kubeconfig, unique, log, address)
    try:
        assert await asyncio.to_thread(process.wait, timeout=patience()) == 2
    finally:
        process.kill()
        process.wait()
    last = log.read_text().splitlines()[-1]
    assert last.startswith("error: TEMPORAL_API_KEY is not accepted by ")
    assert "right-one" not in log.read_text()


@pytest.mark.parametrize(
    ("variable", "value"),
    [("TEMPORAL_PROFILE", "nobodys"), ("FLEETGATE_PAYLOAD_KEYS", "/none")],
)
async def test_a_worker_does_not_wait_on_settings_that_can_never_work(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    settings = Settings.load()
    with pytest.raises(UnusableSettingsError, match=f"{variable} is '{value}'"):
        await reach(settings, TemporalMetrics(CollectorRegistry()), [])


def _start(
    variables: dict[str, str], kubeconfig: Path, queue: str, log: Path, address: str
) -> subprocess.Popen[bytes]:
    environ = (
        os.environ
        | variables
        | {
            "KUBECONFIG": str(kubeconfig),
            "FLEETGATE_TASK_QUEUE": queue,
            "FLEETGATE_RUN": "engine",
            "FLEETGATE_METRICS_ADDRESS": address,
        }
    )
    with log.open("w") as written:
        return subprocess.Popen([sys.executable, ROOT / "worker.py"], env=environ, stderr=written)
