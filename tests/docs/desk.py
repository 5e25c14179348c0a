"""A folder, a fleet and a shell for a reader who types the commands in the documentation."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from deploy.local.fleet import LocalFleet
from deploy.local.paths import HUB, FleetPaths
from deploy.local.state import load
from deploy.local.status import ProcessState
from tests.docs.pages import FOLDER
from tests.docs.shell import Shell
from tests.support.fleet_clients import FleetClients

_OTHERS = ("KUBECONFIG", "TEMPORAL_", "FLEETGATE_")
_STUCK_AFTER = "20s"
"""The tutorial's value: five minutes are too long for a reader."""
_ALL_JOINED = "kubectl wait memberclusters --all --for=condition=Joined --timeout=60s"


@dataclass(frozen=True)
class Desk:
    """The place where a reader types."""

    folder: Path

    def sit_down(self) -> Shell:
        """Return a shell in the state that it has after the first steps of the tutorial."""
        for path in (FOLDER, FOLDER.parent / "deploy"):
            if not (self.folder / path.name).is_symlink():
                (self.folder / path.name).symlink_to(path)  # the reader has a clone
        shell = self._shell()
        if not self._is_up():
            started = shell.type(f"fleetgate local up && {_ALL_JOINED}")
            assert started.code == 0, started.lines
        return shell

    def clean_up(self) -> None:
        """Remove everything that was rolled out."""
        state = load(self._fleet.state)
        assert state is not None
        kubeconfigs = {name: self._fleet.kubeconfig(name) for name in state.clusters}
        with FleetClients(kubeconfigs) as clients:
            clients.sweep()

    def leave(self) -> None:
        """Stop the fleet and remove its data."""
        shell = self._shell()
        try:
            shell.type("fleetgate local down --purge")
        finally:
            shell.close()

    @property
    def _fleet(self) -> FleetPaths:
        return FleetPaths(self.folder / ".fleetgate")

    def _is_up(self) -> bool:
        processes = LocalFleet(self._fleet).status()
        return bool(processes) and all(each.state is ProcessState.RUNNING for each in processes)

    def _shell(self) -> Shell:
        own = {name: text for name, text in os.environ.items() if not name.startswith(_OTHERS)}
        kept = {name: text for name, text in os.environ.items() if name in _PROGRAMS}
        environment = {
            **own,
            **kept,
            "PATH": f"{Path(sys.executable).parent}:{own['PATH']}",
            "KUBECONFIG": str(self._fleet.kubeconfig(HUB)),
            "FLEETGATE_STUCK_AFTER": _STUCK_AFTER,
        }
        return Shell(self.folder, environment)


_PROGRAMS = frozenset(
    f"FLEETGATE_{name}"
    for name in ("TEMPORAL", "ETCD", "KUBE_APISERVER", "KUBE_CONTROLLER_MANAGER")
)
"""Variables with the paths of the fleet's programs."""
