"""Finding the programs of the fleet: named, on the PATH, cached, downloaded or built."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from deploy.local.errors import BinaryMissing
from deploy.local.programs import (
    API_SERVER_PROGRAM,
    CONTROLLERS_PROGRAM,
    ETCD_PROGRAM,
    TEMPORAL_PROGRAM,
    Program,
)

_ANSWERS_WITHIN_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class Binaries:
    """Paths of the programs that a fleet runs."""

    etcd: Path
    api_server: Path
    controllers: Path
    temporal: Path


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where programs are kept between fleets, one folder a version."""
    base = environment.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "fleetgate" / "bin"


def find_all(environment: Mapping[str, str] = os.environ) -> Binaries:
    """Find or get every program. Raises BinaryMissing with the ways out."""
    return Binaries(
        etcd=find(ETCD_PROGRAM, environment=environment),
        api_server=find(API_SERVER_PROGRAM, environment=environment),
        controllers=find(CONTROLLERS_PROGRAM, environment=environment),
        temporal=find(TEMPORAL_PROGRAM, environment=environment),
    )


def find(program: Program, *, environment: Mapping[str, str]) -> Path:
    """Return the path of the program."""
    explicit = environment.get(program.variable)
    if explicit:
        return _checked(program, Path(explicit))
    on_path = shutil.which(program.name, path=environment.get("PATH"))
    if on_path is not None and runs(Path(on_path)):
        return Path(on_path).absolute()
    cached = cache_folder(environment) / program.version / program.name
    if cached.exists():
        return cached
    raise BinaryMissing(f"{program.name} not found")


def runs(path: Path) -> bool:
    """Whether the file is a program of this kind of machine that answers `--version`."""
    command = [str(path), "--version"]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_ANSWERS_WITHIN_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def _checked(program: Program, path: Path) -> Path:
    if not runs(path):
        raise BinaryMissing(f"{program.variable}={path}: it does not answer `{path} --version`")
    return path.absolute()
