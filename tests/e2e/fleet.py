"""Running kubectl and fleetgate against an embedded fleet, and checking the result."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from api.kinds import CONFIG_MAP, Kind
from deploy.local.fleet import FleetAddresses, LocalFleet
from deploy.local.paths import FleetPaths
from tests.support.eventually import patience, wait
from tests.support.fleet_clients import FleetClients
from tests.support.programs import fleet_here

TIMEOUT_SECONDS = 300
"""Longer than any command of these tests takes on a slow machine, including the demo."""

DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments", namespaced=True)


class CommandError(AssertionError):
    """A command exited with an unexpected exit code."""


@dataclass(frozen=True)
class Fleet:
    """A running fleet and the folder in which commands run."""

    folder: Path
    addresses: FleetAddresses
    clients: FleetClients
    """For reads, because kubectl would start a process for each."""

    @classmethod
    @contextmanager
    def start(cls, folder: Path) -> Iterator["Fleet"]:
        """Start a fleet in the folder, or repair the existing one."""
        addresses = _up(folder)
        with FleetClients.of(addresses) as clients:
            yield cls(folder, addresses, clients)

    @staticmethod
    def end(folder: Path) -> None:
        """Stop the fleet in the folder and delete its data."""
        _local(folder).down(purge=True)

    def repair(self) -> None:
        """Restart what died, as `fleetgate local up` does."""
        _up(self.folder)

    def process(self, name: str) -> psutil.Process:
        """Return one of its processes."""
        found = next(each for each in _local(self.folder).status() if each.name == name)
        assert found.pid is not None, f"{name} is not running"
        return psutil.Process(found.pid)

    def kill_worker(self) -> None:
        """Kill fleetgate's worker with SIGKILL."""
        process = self.process("worker")
        process.kill()
        process.wait(timeout=patience())

    def kubectl(
        self, command: str, *, stdin: str = "", on: str = "hub", fails: bool = False
    ) -> str:
        """Run `kubectl …` and return what it printed."""
        return self._type(["kubectl", *shlex.split(command)], stdin, on, fails=fails)

    def fleetgate(self, command: str, *, fails: bool = False) -> str:
        """Run `fleetgate …` and return what it printed."""
        program = [sys.executable, "-m", "starter"]
        return self._type([*program, *shlex.split(command)], "", "hub", fails=fails)

    def shell(self, command: str) -> str:
        """Run a command that needs a shell."""
        return self._type(["bash", "-euc", command], "", "hub", fails=False)

    def values(self) -> dict[str, str]:
        """Read the value `key` of the ConfigMap on each member; empty if it is missing."""
        found = {
            name: self.clients.find(CONFIG_MAP, "test-cm", namespace="test-namespace", on=name)
            for name in self.clients.members
        }
        return {name: body["data"]["key"] if body else "" for name, body in found.items()}

    def until(self, happened: Callable[[], bool], what: str) -> None:
        """Poll until something has happened."""
        try:
            wait(happened)
        except AssertionError as error:
            raise AssertionError(f"did not happen: {what}") from error

    def _type(self, argv: list[str], stdin: str, on: str, *, fails: bool) -> str:
        done = subprocess.run(
            argv,
            cwd=self.folder,
            env=self._environment(on),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        if (done.returncode != 0) is not fails:
            raise CommandError(f"{shlex.join(argv)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stderr if fails else done.stdout

    def _environment(self, on: str) -> dict[str, str]:
        own = {name: text for name, text in os.environ.items() if not name.startswith("TEMPORAL_")}
        files = {"hub": self.addresses.hub_kubeconfig, **self.addresses.member_kubeconfigs}
        return {**own, "KUBECONFIG": str(files[on])}


def _up(folder: Path) -> FleetAddresses:
    return _local(folder).up(fleet_here())


def _local(folder: Path) -> LocalFleet:
    return LocalFleet(FleetPaths(folder / ".fleetgate"))


def rows(printed: str) -> list[dict[str, str]]:
    """Parse a table printed by kubectl: cells by heading, possibly empty."""
    lines = printed.rstrip().splitlines()
    starts = [(match.group(), match.start()) for match in re.finditer(r"\S+", lines[0])]
    ends = [start for _, start in starts[1:]] + [None]
    return [
        {name: line[start:end].strip() for (name, start), end in zip(starts, ends, strict=True)}
        for line in lines[1:]
    ]
