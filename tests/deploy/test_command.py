"""`fleetgate local` in a folder without a fleet, and its messages when something is wrong."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from deploy.local.processes import Processes
from deploy.local.state import FleetState, save
from starter import cli


@dataclass(frozen=True)
class Result:
    exit_code: int
    stdout: str
    stderr: str


Command = Callable[..., Result]


@pytest.fixture
def fleetgate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def typed(*words: str) -> Result:
        exit_code = cli.run(words)
        return Result(exit_code, *capsys.readouterr())

    return typed


@pytest.fixture
def died(tmp_path: Path) -> Processes:
    """A fleet of one member whose etcd was started and has died."""
    root = tmp_path / ".fleetgate"
    processes = Processes(pids=root / "pids", logs=root / "logs")
    save(root / "state.json", FleetState(members=("member1",)))
    (root / "pids/etcd.json").write_text('{"name": "etcd", "pid": 1, "started_after_boot": -9}')
    processes.log("etcd").write_text("first\nlast\n")
    return processes


def test_status_without_a_fleet_says_how_to_create_one(fleetgate: Command) -> None:
    result = fleetgate("local", "status")

    assert result.exit_code == 0
    assert "`fleetgate local up` starts one" in result.stdout


def test_status_as_json_without_a_fleet_is_an_empty_list(fleetgate: Command) -> None:
    assert json.loads(fleetgate("local", "status", "-o", "json").stdout) == []


def test_down_without_a_fleet_is_not_an_error(fleetgate: Command, tmp_path: Path) -> None:
    result = fleetgate("local", "down")

    assert result.exit_code == 0
    assert "nothing was running" in result.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("died")
def test_status_distinguishes_dead_processes_from_stopped_ones(fleetgate: Command) -> None:
    shown = json.loads(fleetgate("local", "status", "-o", "json").stdout)

    states = {one["name"]: one["state"] for one in shown}
    assert states["etcd"] == "died"
    assert states["worker"] == "stopped"


@pytest.mark.usefixtures("died")
def test_the_table_of_processes_fits_a_terminal_and_ends_with_advice(fleetgate: Command) -> None:
    output = fleetgate("local", "status").stdout

    assert max(map(len, output.splitlines())) <= 100
    assert "`fleetgate local logs etcd` shows why" in output


@pytest.mark.usefixtures("died")
def test_logs_shows_the_last_lines_of_a_process(fleetgate: Command) -> None:
    assert fleetgate("local", "logs", "etcd", "--tail", "1").stdout == "last\n"


@pytest.mark.usefixtures("died")
def test_logs_of_an_unknown_process_lists_the_known_ones(fleetgate: Command) -> None:
    result = fleetgate("local", "logs", "ectd")

    assert result.exit_code == 3
    assert "'ectd' has no log" in result.stderr
    assert "hub-apiserver" in result.stderr


def test_up_fails_with_one_error_if_a_program_does_not_run(
    fleetgate: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FLEETGATE_ETCD", str(tmp_path / "nowhere"))

    result = fleetgate("local", "up")

    assert result.exit_code == 1
    assert "FLEETGATE_ETCD" in result.stderr
    assert "Traceback" not in result.stderr
