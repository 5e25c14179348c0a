"""The worker's settings, and the worker as a process."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest
from pydantic import ValidationError

import worker
from api.kinds import LEASE
from deploy.installing import crds
from deploy.local import ports
from hub import Hub
from planning.placements.selecting import SelectionRules
from telemetry import AddressError, LogFormat, ProcessHealth, Tracing, serve_health
from tests.support.eventually import eventually, patience
from tests.support.servers import Servers
from wiring import PlacementKind, Role, Settings, Snapshots, Upgrade
from workflows.messages import TemporalApprovals

ROOT = Path(__file__).parent.parent


# -- settings ----------------------------------------------------------------------------------


def test_without_variables_a_worker_runs_all_roles() -> None:
    settings = Settings.load({})
    assert settings.run == frozenset(Role)
    assert settings.placement is PlacementKind.BUILTIN
    assert settings.kubeconfig is None
    assert settings.context is None
    assert settings.task_queue == "fleetgate"
    assert settings.stuck_after == timedelta(minutes=5)
    assert settings.metrics_address == "127.0.0.1:9464"
    assert settings.log_format is None
    assert settings.tracing is Tracing.NONE
    assert settings.members == {}
    assert settings.lease_namespace == ""
    assert settings.identity == ""


@pytest.mark.parametrize(
    ("variable", "value", "field", "read"),
    [
        ("FLEETGATE_RUN", "engine", "run", {Role.ENGINE}),
        ("FLEETGATE_RUN", "engine, bridge", "run", {Role.ENGINE, Role.BRIDGE}),
        ("FLEETGATE_PLACEMENT", "external", "placement", PlacementKind.EXTERNAL),
        ("FLEETGATE_SNAPSHOTS", "by-runs", "snapshots", Snapshots.BY_RUNS),
        ("FLEETGATE_SNAPSHOT_INTERVAL", "0s", "snapshot_interval", timedelta(0)),
        ("FLEETGATE_SKIPPED_NAMESPACES", "a, b-c,", "skipped_namespaces", {"a", "b-c"}),
        ("FLEETGATE_HUB_RUNS_WORKLOADS", "true", "hub_runs_workloads", True),
        ("FLEETGATE_KUBECONFIG", "hub.kubeconfig", "kubeconfig", Path("hub.kubeconfig")),
        ("FLEETGATE_CONTEXT", "hub", "context", "hub"),
        ("FLEETGATE_TASK_QUEUE", "blue", "task_queue", "blue"),
        ("FLEETGATE_STUCK_AFTER", "1h30m", "stuck_after", timedelta(hours=1, minutes=30)),
        ("FLEETGATE_METRICS_ADDRESS", "[::1]:80", "metrics_address", "[::1]:80"),
        ("FLEETGATE_LOG_FORMAT", "json", "log_format", LogFormat.JSON),
        ("FLEETGATE_TRACING", "otlp", "tracing", Tracing.OTLP),
        ("FLEETGATE_TEMPORAL_APPROVALS", "refuse", "temporal_approvals", TemporalApprovals.REFUSE),
        ("FLEETGATE_MEMBERS", "a=a.kubeconfig", "members", {"a": Path("a.kubeconfig")}),
        ("FLEETGATE_MEMBERS", "a=x=y, b=/z,", "members", {"a": Path("x=y"), "b": Path("/z")}),
        ("FLEETGATE_MEMBERS", "", "members", {}),
        ("FLEETGATE_MEMBER_SECRETS", "fleet", "member_secrets", "fleet"),
        ("FLEETGATE_PAYLOAD_KEYS", "/keys", "payload_keys", Path("/keys")),
        ("FLEETGATE_UPGRADE", "between-stages", "upgrade", Upgrade.BETWEEN_STAGES),
        ("FLEETGATE_COLLECT_NAMESPACES", "true", "collect_namespaces", True),
        ("FLEETGATE_COLLECT_NAMESPACES", "0", "collect_namespaces", False),
        ("FLEETGATE_LEASE_NAMESPACE", "fleetgate", "lease_namespace", "fleetgate"),
        ("FLEETGATE_IDENTITY", "fleetgate-7d4f9-x2x8q", "identity", "fleetgate-7d4f9-x2x8q"),
    ],
)
def test_each_variable_sets_its_field(variable: str, value: str, field: str, read: object) -> None:
    assert getattr(Settings.load({variable: value}), field) == read


@pytest.mark.parametrize("field", Settings.model_fields)
def test_a_flag_wins_over_its_variable(field: str) -> None:
    by_flag = {"run": "bridge", "placement": "external", "stuck_after": "9m"} | {
        "snapshot_interval": "30s",
        "hub_runs_workloads": "true",
        "log_format": "text",
        "members": "b=/z",
        "collect_namespaces": "false",
        "tracing": "otlp",
        "upgrade": "between-stages",
        "snapshots": "by-runs",
        "temporal_approvals": "refuse",
    }
    by_variable = {"run": "engine", "placement": "builtin", "stuck_after": "8m"} | {
        "snapshot_interval": "20s",
        "hub_runs_workloads": "false",
        "log_format": "json",
        "members": "a=/z",
        "collect_namespaces": "true",
        "tracing": "none",
        "upgrade": "any-time",
        "snapshots": "on-change",
        "temporal_approvals": "accept",
    }
    goes_with = {"deployment": "FLEETGATE_BUILD_ID", "build_id": "FLEETGATE_DEPLOYMENT"}
    others = {goes_with[field]: "any"} if field in goes_with else {}
    environ = others | {f"FLEETGATE_{field.upper()}": by_variable.get(field, "variable")}
    flag = by_flag.get(field, "flag")
    assert Settings.load(environ, **{field: flag}) == Settings.load(others, **{field: flag})
    assert Settings.load(environ, **{field: None}) == Settings.load(environ)


def test_a_deployment_without_a_build_is_refused() -> None:
    with pytest.raises(ValidationError, match="go together: set both or none"):
        Settings.load({"FLEETGATE_DEPLOYMENT": "fleetgate"})
    named = Settings.load({"FLEETGATE_DEPLOYMENT": "fleetgate", "FLEETGATE_BUILD_ID": "0.2.0"})
    assert (named.deployment, named.build_id) == ("fleetgate", "0.2.0")
    assert named.upgrade is Upgrade.ANY_TIME


def test_variables_of_others_are_ignored() -> None:
    assert Settings.load({"FLEETGATE_LOCAL_THING": "x", "PATH": "y"}) == Settings.load({})


def test_the_settings_combine_into_the_rules_for_what_may_be_placed() -> None:
    assert Settings.load({}).rules == SelectionRules()
    chosen = Settings.load({"FLEETGATE_SKIPPED_NAMESPACES": "a"}, hub_runs_workloads=True)
    assert chosen.rules == SelectionRules(frozenset({"a"}), hub_runs_workloads=True)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings.load({}).task_queue = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("variable", "value", "advice"),
    [
        ("RUN", "nothing", "Input should be 'engine', 'bridge', 'placement' or 'agents'"),
        ("PLACEMENT", "none", "Input should be 'builtin' or 'external'"),
        ("STUCK_AFTER", "5", "'5' is not a duration; write it like 90s, 5m or 1h30m"),
        ("STUCK_AFTER", "0s", "write a duration longer than 0s, such as 5m"),
        (
            "STUCK_AFTER",
            "9999999h",
            "'9999999h' is too long for a duration; the longest is about 290 years",
        ),
        ("SNAPSHOT_INTERVAL", "-1s", "'-1s' is not a duration; write it like 90s, 5m or 1h30m"),
        (
            "SKIPPED_NAMESPACES",
            "Infra",
            "write names of namespaces as NAME,NAME",
        ),
        ("LOG_FORMAT", "xml", "Input should be 'text' or 'json'"),
        ("TRACING", "jaeger", "Input should be 'none' or 'otlp'"),
        ("UPGRADE", "never", "Input should be 'any-time' or 'between-stages'"),
        ("BUILD_ID", "1", "deployment and build id go together: set both or none"),
        ("MEMBERS", "a", "write name=path,name=path"),
        ("MEMBERS", "a=x,=y", "write name=path,name=path"),
        ("MEMBERS", "a=", "write name=path,name=path"),
    ],
)
def test_a_wrong_value_is_reported_in_one_line_with_its_variable_and_advice(
    variable: str,
    value: str,
    advice: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(f"FLEETGATE_{variable}", value)
    with pytest.raises(SystemExit) as ended:
        worker.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"error: FLEETGATE_{variable} is {value!r}: {advice}\n"


def test_a_wrong_flag_is_reported_by_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FLEETGATE_STUCK_AFTER", "1m")
    with pytest.raises(SystemExit):
        worker.main(stuck_after="5")
    advice = "'5' is not a duration; write it like 90s, 5m or 1h30m"
    assert capsys.readouterr().err == f"error: --stuck-after is '5': {advice}\n"


def test_each_wrong_value_gets_a_line_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FLEETGATE_PLACEMENT", "none")
    monkeypatch.setenv("FLEETGATE_RUN", "engine,x,y")
    with pytest.raises(SystemExit):
        worker.main()
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(": I")[0] for line in lines] == [
        "error: FLEETGATE_RUN is 'x'",
        "error: FLEETGATE_RUN is 'y'",
        "error: FLEETGATE_PLACEMENT is 'none'",
    ]


# -- serving -----------------------------------------------------------------------------------


async def test_an_address_in_use_is_refused_before_anything_starts() -> None:
    address = f"127.0.0.1:{ports.choose()}"
    async with serve_health(address, ProcessHealth()):
        with pytest.raises(AddressError, match=f"cannot listen on {address}"):
            await worker.serve(Settings(metrics_address=address))


# -- the process -------------------------------------------------------------------------------

Start = Callable[..., subprocess.Popen[str]]

UNANSWERED = (
    "lease {} could not be released, so other processes wait until it expires: no answer in time"
)


@pytest.fixture(scope="module")
async def own_kubeconfig(servers: Servers) -> AsyncIterator[Path]:
    """Kubeconfig of a hub without runs of other tests, which a worker would take over."""
    server = await servers.private_api_server()
    await server.start()
    async with await Hub.connect(server.kubeconfig) as hub:
        await crds.install(hub, crds.definitions())
    yield server.kubeconfig
    await server.kill()


@pytest.fixture
def start(unique: str, tmp_path: Path) -> Iterator[Start]:
    """Start a worker with variables; it is killed after the test."""
    begun: list[subprocess.Popen[str]] = []

    def process(**variables: str) -> subprocess.Popen[str]:
        environ = os.environ | {"FLEETGATE_TASK_QUEUE": unique} | variables
        with (tmp_path / "worker.log").open("w") as log:
            begun.append(
                subprocess.Popen(
                    [sys.executable, ROOT / "worker.py"], env=environ, stderr=log, text=True
                )
            )
        return begun[-1]

    yield process
    for each in begun:
        each.kill()
        each.wait()


def logged(folder: Path) -> list[str]:
    return (folder / "worker.log").read_text().splitlines()


async def readiness(address: str, process: subprocess.Popen[str]) -> int:
    """Return the status code of /readyz; 0 while nothing answers."""
    assert process.poll() is None, "the worker has ended"
    try:
        async with aiohttp.ClientSession() as http, http.get(f"http://{address}/readyz") as found:
            return found.status
    except aiohttp.ClientConnectorError:
        return 0


@pytest.mark.alone("workers on one hub compete for its Leases")
@pytest.mark.parametrize("parts", ["engine", "bridge", "engine,bridge,placement,agents"])
async def test_a_worker_becomes_ready_keeps_running_and_stops_cleanly(
    start: Start, parts: str, own_kubeconfig: Path, temporal_address: str, tmp_path: Path
) -> None:
    address = f"127.0.0.1:{ports.choose()}"
    process = start(
        KUBECONFIG=str(own_kubeconfig),
        FLEETGATE_RUN=parts,
        FLEETGATE_METRICS_ADDRESS=address,
        TEMPORAL_ADDRESS=temporal_address,
    )
    await eventually(lambda: readiness(address, process), lambda status: status == 200)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.5)

    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=patience()) == 0
    messages = [json.loads(line)["message"] for line in logged(tmp_path)]
    assert messages.count("ready") == messages.count("stopping") == 1
    async with await Hub.connect(own_kubeconfig) as hub:
        leases = (await hub.list(LEASE, namespace="default")).items
    kept = [each["metadata"]["name"] for each in leases if each["spec"]["holderIdentity"]]
    # A worker that stops does not wait long for a hub that does not answer.
    excused = [name for name in kept if UNANSWERED.format(name) in messages]
    assert kept == excused
    assert leases or parts == "engine"


async def test_a_worker_waits_for_temporal_without_being_ready(
    start: Start, own_kubeconfig: Path, tmp_path: Path
) -> None:
    address = f"127.0.0.1:{ports.choose()}"
    process = start(
        KUBECONFIG=str(own_kubeconfig),
        FLEETGATE_METRICS_ADDRESS=address,
        TEMPORAL_ADDRESS="127.0.0.1:1",
    )
    await eventually(lambda: readiness(address, process), lambda status: status == 503)

    async def complaints() -> list[str]:
        return [line for line in logged(tmp_path) if "Temporal does not answer" in line]

    await eventually(complaints)
    assert process.poll() is None


async def test_an_unreachable_hub_is_reported_in_one_line(start: Start, tmp_path: Path) -> None:
    process = start(
        FLEETGATE_METRICS_ADDRESS=f"127.0.0.1:{ports.choose()}",
        KUBECONFIG=str(tmp_path / "none.kubeconfig"),
    )
    assert process.wait(timeout=patience()) == 1
    (line,) = logged(tmp_path)
    assert line.startswith("error: ")
    assert "none.kubeconfig" in line


async def test_a_missing_namespace_for_leases_is_reported_in_one_line(
    start: Start, own_kubeconfig: Path, tmp_path: Path
) -> None:
    process = start(
        KUBECONFIG=str(own_kubeconfig),
        FLEETGATE_RUN="placement",
        FLEETGATE_LEASE_NAMESPACE="none",
        FLEETGATE_METRICS_ADDRESS=f"127.0.0.1:{ports.choose()}",
    )
    assert await asyncio.to_thread(process.wait, timeout=patience()) == 1
    (line,) = logged(tmp_path)
    assert line.startswith("error: the hub has no namespace 'none' for lease 'fleetgate-placement'")


@pytest.mark.parametrize("variable", ["RUN", "TASK_QUEUE", "KUBECONFIG", "STUCK_AFTER"])
def test_an_empty_variable_counts_as_unset(variable: str) -> None:
    assert Settings.load({f"FLEETGATE_{variable}": ""}) == Settings()
