"""Starting, finding and stopping the programs of one fleet.

A pid file records when its process started, so that a stale file never points to an unrelated
process that was later given the same pid.
"""

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

from deploy.local.files import disk_full_explained, private_folder, write_private

GRACE: Final = timedelta(seconds=10)
"""How long a program may take to exit after SIGTERM before it is killed."""

_DEATH: Final = timedelta(seconds=5)
"""How long the system may take to clean up a killed process."""

_LOOK_AGAIN: Final = timedelta(milliseconds=20)

_START_TOLERANCE: Final = timedelta(seconds=0.5)
"""Allowed rounding error of start times; a pid is not reused that quickly."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run in the background, under a name that is unique in its fleet."""

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    """The whole environment of the program."""
    address: str = ""
    """Address to show to users; empty for a program without one."""
    fingerprint: str = ""
    """Changes when a running process has to be replaced because its settings have changed."""


class ProcessRecord(BaseModel):
    """The content of a pid file."""

    model_config = ConfigDict(frozen=True)

    name: str
    pid: int
    started_after_boot: float
    """In seconds; unlike a wall-clock time, it does not change when the clock is set."""
    address: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Running:
    """A process of the fleet that was started."""

    record: ProcessRecord
    process: psutil.Process

    @property
    def pid(self) -> int:
        """Process id."""
        return self.record.pid

    @property
    def since(self) -> datetime:
        """When it started."""
        return datetime.fromtimestamp(self.process.create_time(), UTC)

    def is_alive(self) -> bool:
        """Return whether it is running; a process that exited but is not yet reaped is not."""
        try:
            return bool(self.process.is_running()) and self.process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    @property
    def memory(self) -> int:
        """Resident memory in bytes."""
        return int(self.process.memory_info().rss)


class Processes:
    """The processes of one fleet, with a pid file and a log file each."""

    def __init__(self, *, pids: Path, logs: Path) -> None:
        self._pids = private_folder(pids)
        self._logs = private_folder(logs)

    def log(self, name: str) -> Path:
        """Return the log file, with the standard output and error of the process."""
        return self._logs / f"{name}.log"

    def names(self) -> list[str]:
        """Return the names of all processes that were started and not stopped since, sorted."""
        return sorted(path.stem for path in self._pids.glob("*.json"))

    def record(self, name: str) -> ProcessRecord | None:
        """Return the content of the pid file, whether or not the process is alive."""
        try:
            return ProcessRecord.model_validate_json(self._pid_file(name).read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def find(self, name: str) -> Running | None:
        """Return the process if it is alive and still the one that was started."""
        running = self._started(name)
        return running if running is not None and running.is_alive() else None

    def start(self, command: Command) -> Running:
        """Start the program in a session of its own, so that Ctrl-C does not reach it."""
        log = self.log(command.name)
        with disk_full_explained(log):
            pid = _spawn(command, log)
        process = psutil.Process(pid)
        record = ProcessRecord(
            name=command.name,
            pid=pid,
            started_after_boot=started_after_boot(process),
            address=command.address,
            fingerprint=command.fingerprint,
        )
        try:
            write_private(self._pid_file(command.name), record.model_dump_json())
        except BaseException:
            # Without a pid file, this process could never be found again.
            process.kill()
            process.wait()
            raise
        return Running(record, process)

    def stop(self, names: Iterable[str], *, grace: timedelta = GRACE) -> list[str]:
        """Stop the processes in parallel, and return the names of those that were alive."""
        wanted = list(names)
        found = [running for name in wanted if (running := self._started(name)) is not None]
        alive = [running.record.name for running in found if running.is_alive()]
        # A process that is exiting may still hold its port and its files.
        end([running.process for running in found], grace=grace)
        for name in wanted:
            self._pid_file(name).unlink(missing_ok=True)
        return alive

    def _started(self, name: str) -> Running | None:
        """Return the process that was started, alive or exiting; None if the pid was reused."""
        record = self.record(name)
        if record is None:
            return None
        try:
            running = Running(record, psutil.Process(record.pid))
            return running if _is_same(running) else None
        except psutil.Error:
            return None

    def _pid_file(self, name: str) -> Path:
        return self._pids / f"{name}.json"


def end(processes: list[psutil.Process], *, grace: timedelta) -> None:
    """Terminate the processes, and kill those that have not exited within the grace period."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    for process in _wait(processes, patience=grace):
        with suppress(psutil.NoSuchProcess):
            process.kill()
    _wait(processes, patience=_DEATH)


def _wait(processes: list[psutil.Process], *, patience: timedelta) -> list[psutil.Process]:
    """Wait for processes to exit, and return those that have not."""
    deadline = time.monotonic() + patience.total_seconds()
    while alive := [process for process in processes if not has_ended(process)]:
        if time.monotonic() >= deadline:
            break
        time.sleep(_LOOK_AGAIN.total_seconds())
    return alive


def has_ended(process: psutil.Process) -> bool:
    """Return whether a process is gone, or is a zombie without other threads.

    The first thread may be gone while other threads still hold the ports.
    """
    with suppress(psutil.TimeoutExpired):
        process.wait(timeout=0)  # reaps it if it is a child of this process
    try:
        return process.status() == psutil.STATUS_ZOMBIE and process.num_threads() <= 1
    except psutil.NoSuchProcess:
        return True


def _is_same(running: Running) -> bool:
    difference = abs(started_after_boot(running.process) - running.record.started_after_boot)
    return difference <= _START_TOLERANCE.total_seconds()


def started_after_boot(process: psutil.Process) -> float:
    """Return when a process started, in seconds after boot, so that setting the clock is safe."""
    return process.create_time() - psutil.boot_time()


def _spawn(command: Command, log: Path) -> int:
    """Run the program without a process handle, which would have to outlive this command."""
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    before = os.umask(0o077)
    try:
        return os.posix_spawn(
            command.argv[0],
            command.argv,
            dict(command.environment),
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, str(log), append, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )
    finally:
        os.umask(before)
