"""Finding one program: set explicitly, on the PATH, cached, downloaded or built."""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from deploy.local.building import build
from deploy.local.downloading import download
from deploy.local.errors import BinaryMissing, NotObtained
from deploy.local.files import disk_full_explained
from deploy.local.programs import Program
from deploy.local.progress import ProgressDisplay

_ANSWERS_WITHIN_SECONDS: Final = 30
_TICK: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class FoundProgram:
    """A program found on this machine."""

    path: Path
    where: str


class Finder:
    """Looks for programs, and downloads or builds those that are missing."""

    def __init__(self, environment: Mapping[str, str], *, progress: ProgressDisplay) -> None:
        self._environment = environment
        self._progress = progress

    def find(self, program: Program) -> Path:
        """Return the path of a program that works. Raises BinaryMissing with ways to provide it."""
        found = self.look(program)
        return found.path if found is not None else self.obtain(program)

    def look(self, program: Program) -> FoundProgram | None:
        """Return the program if it is on this machine.

        Raises BinaryMissing if the environment names one that does not run.
        """
        explicit = self._environment.get(program.variable)
        if explicit:
            return FoundProgram(_named(program, Path(explicit)), f"named by {program.variable}")
        on_path = self._on_path(program)
        if on_path is not None and runs(on_path, asked=program.asked):
            return FoundProgram(on_path.absolute(), "on the PATH")
        cached = self._cached(program)
        return FoundProgram(cached, "in the cache") if cached.exists() else None

    def obtain(self, program: Program) -> Path:
        """Download or build a missing program. Raises BinaryMissing with ways to provide it."""
        on_path = self._on_path(program)
        cached = self._cached(program)
        tried = {
            program.variable: "not set",
            "PATH": f"{on_path} does not run" if on_path else f"no {program.name}",
            "cache": f"nothing at {cached}",
        }
        return self._fill_cache(program, cached, tried)

    def _on_path(self, program: Program) -> Path | None:
        found = shutil.which(program.name, path=self._environment.get("PATH", ""))
        return Path(found) if found is not None else None

    def _cached(self, program: Program) -> Path:
        base = self._environment.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        return Path(base) / "fleetgate" / "bin" / program.version / program.name

    def _fill_cache(self, program: Program, cached: Path, tried: dict[str, str]) -> Path:
        """Put the program into the cache: atomically, and only one process at a time."""
        with disk_full_explained(cached), self._only_one(program, cached):
            if cached.exists():  # put there by another process while this one waited
                return cached
            for remains in cached.parent.glob(f".{program.name}-*"):
                shutil.rmtree(remains, ignore_errors=True)
            with tempfile.TemporaryDirectory(
                dir=cached.parent, prefix=f".{program.name}-", ignore_cleanup_errors=True
            ) as folder:
                made = self._download_or_build(program, Path(folder), tried)
                made.replace(cached)
        return cached

    def _download_or_build(self, program: Program, folder: Path, tried: dict[str, str]) -> Path:
        ways: dict[str, Callable[[], Path]] = {
            way: partial(download, program, release, folder=folder, progress=self._progress)
            for way, release in {"download": program.download, "mirror": program.mirror}.items()
            if release is not None
        }
        ways["build"] = partial(
            build, program, folder=folder, environment=self._environment, progress=self._progress
        )
        for way, get in ways.items():
            try:
                return _working(program, get())
            except NotObtained as error:
                tried[way] = str(error)
                self._progress.say(f"{program.name}: {way} failed: {error}")
        raise BinaryMissing(_ways_out(program, tried))

    @contextmanager
    def _only_one(self, program: Program, cached: Path) -> Iterator[None]:
        cached.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(cached.parent / f"{program.name}.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            with self._progress.task(f"waiting for another process to get {program.name}") as tick:
                while not lock.is_locked:
                    tick(0, 0)
                    with suppress(Timeout):
                        lock.acquire(timeout=_TICK.total_seconds())
        try:
            yield
        finally:
            lock.release()


def runs(path: Path, *, asked: str = "--version") -> bool:
    """Return whether the file runs on this machine and succeeds with the given argument."""
    command = [str(path), asked]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_ANSWERS_WITHIN_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _named(program: Program, path: Path) -> Path:
    if not runs(path, asked=program.asked):
        raise BinaryMissing(
            f"{program.variable}={path} is not a program that answers `{program.asked}`; "
            f"correct the path, or unset the variable to find {program.name} automatically"
        )
    return path.absolute()


def _working(program: Program, made: Path) -> Path:
    made.chmod(0o755)
    if not runs(made, asked=program.asked):
        raise NotObtained(f"{made.name} does not answer `{program.asked}` on this machine")
    return made


def _ways_out(program: Program, tried: Mapping[str, str]) -> str:
    lines = "\n".join(f"  {way}: {result}" for way, result in tried.items())
    return (
        f"cannot find, download or build {program.name} {program.version}. Tried:\n"
        f"{lines}\n"
        f"To fix this, set {program.variable} to the program's path, put {program.name} on the "
        "PATH, install Go, or connect this machine to the internet; then run the command again."
    )
