"""What a typed command costs before and while it does its work, in seconds of CPU."""

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
    "run list": (("run", "list"), {}),
    "run show": (("run", "show", "run-0"), {}),
    "Tab after `run show`": ((), _COMPLETION),
}
"""What is typed, and the variables by which a shell asks for completions."""


@dataclass(frozen=True)
class Typed:
    """The figures of one command; seconds of CPU, those of its kernel included."""

    name: str
    cpu: float
    """The middle one of all times that it was typed."""
    least_cpu: float
    load: float
    """Of the machine when it began, over the last minute."""


async def commands(times: int) -> list[Typed]:
    """Type each command so many times, on a hub with a few runs."""
    async with hub_alone() as made:
        async with await Hub.connect(made.kubeconfig, manager="bench") as hub:
            for number in range(RUNS_ON_HUB):
                spec = {"placementName": "web", "stagedRolloutStrategyName": "slowly"}
                body = {"metadata": {"name": f"run-{number}"}, "spec": spec}
                await hub.create(CLUSTER_SCOPE.run, body)
        environment = {**os.environ, "KUBECONFIG": str(made.kubeconfig)}
        # As for a person: what was compiled once is read from files.
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
