"""Measurements of the CPU time of commands, including their start."""

import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from api.kinds import CLUSTER_SCOPE
from hub import Hub
from tests.bench.world import hub_alone

RUNS_ON_HUB: Final = 5
_COMPLETION: Final = {
    "_FLEETGATE_COMPLETE": "bash_complete",
    "COMP_WORDS": "fleetgate run show ",
    "COMP_CWORD": "3",
}
COMMANDS: Final[Mapping[str, tuple[Sequence[str], Mapping[str, str]]]] = {
    "--help": (("--help",), {}),
    "run list --help": (("run", "list", "--help"), {}),
    "approve --help": (("approve", "--help"), {}),
    "crds": (("crds",), {}),
    "run list": (("run", "list"), {}),
    "run show": (("run", "show", "run-0"), {}),
    "Tab after `run show`": ((), _COMPLETION),
}
"""Arguments of each command, and the variables with which a shell requests completions."""


@dataclass(frozen=True)
class Typed:
    """The figures of one command, in seconds of CPU time, including that of the kernel."""

    name: str
    cpu: float
    """Median of all repetitions."""
    least_cpu: float
    load: float
    """Load of the machine at the start, averaged over a minute."""


async def commands(times: int) -> list[Typed]:
    """Run each command this number of times, on a hub with a few runs."""
    async with hub_alone() as made:
        async with await Hub.connect(made.kubeconfig, manager="bench") as hub:
            for number in range(RUNS_ON_HUB):
                spec = {"placementName": "web", "stagedRolloutStrategyName": "slowly"}
                body = {"metadata": {"name": f"run-{number}"}, "spec": spec}
                await hub.create(CLUSTER_SCOPE.run, body)
        environment = {**os.environ, "KUBECONFIG": str(made.kubeconfig)}
        # As on a person's machine: compiled bytecode is read from files.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = str(made.servers.folder / "compiled")
        return [
            _measured(name, words, {**environment, **variables}, times)
            for name, (words, variables) in COMMANDS.items()
        ]


def _measured(name: str, words: Sequence[str], environment: Mapping[str, str], times: int) -> Typed:
    load = os.getloadavg()[0]
    _cpu_of(words, environment)  # compiles
    spent = [_cpu_of(words, environment) for _ in range(times)]
    return Typed(name, median(spent), min(spent), load)


def _cpu_of(words: Sequence[str], environment: Mapping[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = "from starter.cli import main; main()"
    subprocess.run(
        [sys.executable, "-c", code, *words], env=environment, check=True, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
