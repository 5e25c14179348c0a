"""Where a local fleet keeps its files: all in one folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

HUB: Final = "hub"
"""Name of the hub among the clusters."""
FOLDER: Final = ".fleetgate"
"""Name of the fleet's folder, in the current directory of the command."""


@dataclass(frozen=True, slots=True)
class FleetPaths:
    """Paths of the fleet in `root`."""

    root: Path

    @classmethod
    def here(cls) -> "FleetPaths":
        """Return the paths of the fleet in the current directory."""
        return cls(Path.cwd() / FOLDER)

    def kubeconfig(self, cluster: str) -> Path:
        """Return the kubeconfig of the hub or a member."""
        return self.root / f"{cluster}.kubeconfig"

    @property
    def worker_kubeconfig(self) -> Path:
        """Kubeconfig of the hub for the fleet's own worker."""
        return self.root / "hub-of-worker.kubeconfig"

    @property
    def state(self) -> Path:
        """Ports, tokens and members, kept from one `up` to the next."""
        return self.root / "state.json"

    @property
    def lock(self) -> Path:
        """Lock file, held while a command changes the fleet."""
        return self.root / "lock"

    @property
    def pids(self) -> Path:
        """Folder of the pid files."""
        return self.root / "pids"

    @property
    def logs(self) -> Path:
        """Folder of the log files."""
        return self.root / "logs"

    @property
    def data(self) -> Path:
        """Folder of the servers' data; `down --purge` removes it."""
        return self.root / "data"
