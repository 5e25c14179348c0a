"""Where a local fleet keeps what: everything in one folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = ".fleetgate"
"""Name of the fleet's folder in the folder where the command is typed."""


@dataclass(frozen=True, slots=True)
class FleetPaths:
    """Files of the fleet in `root`."""

    root: Path

    @classmethod
    def here(cls) -> "FleetPaths":
        """Return the paths of the current folder's fleet."""
        return cls(Path.cwd() / FOLDER)

    def kubeconfig(self, cluster: str) -> Path:
        """Kubeconfig of the hub or a member."""
        return self.root / f"{cluster}.kubeconfig"

    @property
    def worker_kubeconfig(self) -> Path:
        """With what the fleet's own worker goes to the hub."""
        return self.root / "hub-of-worker.kubeconfig"

    @property
    def state(self) -> Path:
        """Ports, tokens and members, kept from one `up` to the next."""
        return self.root / "state.json"

    @property
    def lock(self) -> Path:
        """Held while a command changes the fleet."""
        return self.root / "lock"

    @property
    def pids(self) -> Path:
        """Folder of the pid files."""
        return self.root / "pids"

    @property
    def logs(self) -> Path:
        """Folder of what each process wrote."""
        return self.root / "logs"

    @property
    def data(self) -> Path:
        """What the servers store; `down --purge` removes it."""
        return self.root / "data"
