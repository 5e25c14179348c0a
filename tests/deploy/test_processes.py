"""Processes of a fleet are found again, and no others are stopped."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from deploy.local.processes import Command, Processes, ProcessRecord, Running
from tests.support.eventually import wait

SLEEPS = "import time; time.sleep(60)"
IGNORES_TERM = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "print('deaf', flush=True); time.sleep(60)"
)


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    made = Processes(pids=tmp_path / "pids", logs=tmp_path / "logs")
    yield made
    made.stop(made.names(), grace=timedelta(0))


def python(code: str, *, name: str = "one") -> Command:
    return Command(name, (sys.executable, "-c", code), environment=dict(os.environ))


def started(processes: Processes, code: str) -> Running:
    running = processes.start(python(code))
    assert running.is_alive()
    return running


def test_a_process_is_found_by_a_later_command(processes: Processes, tmp_path: Path) -> None:
    running = started(processes, SLEEPS)

    later = Processes(pids=tmp_path / "pids", logs=tmp_path / "logs").find("one")

    assert later is not None
    assert later.pid == running.pid


def test_a_stopped_process_is_gone_and_forgotten(processes: Processes) -> None:
    running = started(processes, SLEEPS)

    assert processes.stop(["one"]) == ["one"]
    assert not running.is_alive()
    assert processes.names() == []


def test_a_process_that_ignores_sigterm_is_killed(processes: Processes) -> None:
    running = started(processes, IGNORES_TERM)
    wait(lambda: "deaf" in processes.log("one").read_text())

    processes.stop(["one"], grace=timedelta(milliseconds=100))

    assert not running.is_alive()


def test_a_process_that_exited_by_itself_is_not_found_but_remembered(processes: Processes) -> None:
    running = processes.start(python("print('bye')"))
    running.process.wait()

    assert processes.find("one") is None
    assert processes.names() == ["one"]
    assert processes.log("one").read_text() == "bye\n"


def test_a_stale_pid_file_never_points_to_an_unrelated_process(
    processes: Processes, tmp_path: Path
) -> None:
    with subprocess.Popen([sys.executable, "-c", SLEEPS]) as stranger:
        stale = ProcessRecord(name="one", pid=stranger.pid, started_after_boot=1.0)
        (tmp_path / "pids/one.json").write_text(stale.model_dump_json())

        found = processes.find("one")
        ended = processes.stop(["one"])

        assert found is None
        assert ended == []
        assert stranger.poll() is None
        assert processes.names() == []
        stranger.kill()


def test_a_half_written_pid_file_is_ignored(processes: Processes, tmp_path: Path) -> None:
    (tmp_path / "pids/one.json").write_text('{"name": "on')

    assert processes.find("one") is None


def test_files_of_a_fleet_are_readable_only_by_their_owner(
    processes: Processes, tmp_path: Path
) -> None:
    written = tmp_path / "written"
    running = processes.start(python(f"open({str(written)!r}, 'w')"))
    running.process.wait()

    modes = {path: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}

    assert modes[tmp_path / "pids"] == 0o700
    assert modes[tmp_path / "logs"] == 0o700
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}
