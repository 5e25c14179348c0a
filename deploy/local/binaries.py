"""Finding all programs of the fleet, and getting the missing ones in parallel."""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from pathlib import Path
from typing import Final

from deploy.local.errors import BinaryMissing, LocalFleetError
from deploy.local.finding import Finder, FoundProgram
from deploy.local.programs import (
    API_SERVER_PROGRAM,
    CONTROLLERS_PROGRAM,
    ETCD_PROGRAM,
    TEMPORAL_PROGRAM,
    Program,
)
from deploy.local.progress import ProgressDisplay, silent

FLEET: Final = (ETCD_PROGRAM, API_SERVER_PROGRAM, CONTROLLERS_PROGRAM, TEMPORAL_PROGRAM)

_AT_ONCE: Final = 2
"""Go uses all cores itself; a second build keeps them busy while the first one links."""
_CORES_OF_ESTIMATE: Final = 2
_CORES_USED: Final = 8
"""More do not make a build faster: it waits for its largest packages."""


@dataclass(frozen=True, slots=True)
class Binaries:
    """Paths of the programs that a fleet runs."""

    etcd: Path
    api_server: Path
    controllers: Path
    temporal: Path


class Gathering:
    """Programs that were found, and those that are being downloaded or built in parallel."""

    def __init__(self, found: Mapping[Program, FoundProgram], got: Sequence["_Lane"]) -> None:
        self.found = found
        self._got = got

    @property
    def missing(self) -> list[Program]:
        """Programs that were not on this machine, in the order in which they are obtained."""
        return [program for lane in self._got for program in lane.programs]

    def wait(self) -> dict[Program, Path]:
        """Wait for all programs. Raises one BinaryMissing for all that could not be obtained."""
        paths = {program: found.path for program, found in self.found.items()}
        failures = []
        for lane in self._got:
            obtained, failed = lane.future.result()
            paths |= obtained
            failures += failed
        if failures:
            raise BinaryMissing("\n".join(str(failure) for failure in failures)) from failures[0]
        return paths


@dataclass(frozen=True, slots=True)
class _Lane:
    """Programs that are obtained one after the other."""

    programs: Sequence[Program]
    future: "Future[_Outcome]"


_Outcome = tuple[dict[Program, Path], list[LocalFleetError]]


@contextmanager
def gathering(
    programs: Sequence[Program], environment: Mapping[str, str], *, progress: ProgressDisplay
) -> Iterator[Gathering]:
    """Start getting the missing programs; an error in the `with` block cancels it.

    Raises BinaryMissing if the environment names a program that does not run.
    """
    finder = Finder(environment, progress=progress)
    found = {program: it for program in programs if (it := finder.look(program)) is not None}
    missing = [program for program in programs if program not in found]
    if missing:
        progress.say(_expectation(missing))
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        try:
            yield Gathering(
                found,
                [_Lane(lane, pool.submit(_obtained, finder, lane)) for lane in _lanes(missing)],
            )
        except BaseException:
            progress.cancel()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def find_all(
    environment: Mapping[str, str] = os.environ, *, progress: ProgressDisplay | None = None
) -> Binaries:
    """Find or get every program of the fleet. Raises BinaryMissing with ways to provide them."""
    with gathering(FLEET, environment, progress=progress or silent()) as gathered:
        paths = gathered.wait()
    return Binaries(
        etcd=paths[ETCD_PROGRAM],
        api_server=paths[API_SERVER_PROGRAM],
        controllers=paths[CONTROLLERS_PROGRAM],
        temporal=paths[TEMPORAL_PROGRAM],
    )


def _obtained(finder: Finder, programs: Sequence[Program]) -> _Outcome:
    obtained: dict[Program, Path] = {}
    failed: list[LocalFleetError] = []
    for program in programs:
        try:
            obtained[program] = finder.obtain(program)
        except LocalFleetError as error:
            failed.append(error)
    return obtained, failed


def _lanes(programs: Sequence[Program]) -> list[list[Program]]:
    """Group programs by their sources, so that Go compiles these once; longest group first."""
    lanes: dict[object, list[Program]] = {}
    for program in programs:
        lanes.setdefault(program.build.recipe or program, []).append(program)
    return sorted(lanes.values(), key=_building, reverse=True)


def _expectation(programs: Sequence[Program]) -> str:
    names = ", ".join(program.name for program in programs)
    expectation = f"getting {names}, once per machine: a minute or two to download"
    takes = _building([program for program in programs if program.mirror is None])
    if not takes:
        return expectation
    cores = os.cpu_count() or 1
    minutes = ceil(takes * _CORES_OF_ESTIMATE / min(cores, _CORES_USED) / timedelta(minutes=1))
    unit = "minute" if minutes == 1 else "minutes"
    return f"{expectation}; about {minutes} {unit} if Go has to build them ({cores} cores)"


def _building(programs: Sequence[Program]) -> timedelta:
    return sum((program.build.takes for program in programs), timedelta())
