"""State that a fleet keeps from one `up` to the next: its members, ports and tokens."""

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from deploy.local import ports
from deploy.local.errors import LocalFleetError, WrongSize
from deploy.local.files import write_private
from deploy.local.paths import HUB

ETCD: Final = "etcd"
TEMPORAL: Final = "temporal"
SIMULATED_NODES: Final = "simulated-nodes"
WORKER: Final = "worker"

ETCD_PEERS: Final = "etcd/peers"
TEMPORAL_UI: Final = "temporal/ui"
"""A second port of a process is named `process/use`."""

DEFAULT_MEMBERS: Final = 3

_API_SERVER: Final = "-apiserver"


class FleetState(BaseModel):
    """Members, ports and tokens of a fleet; the file holds secrets."""

    model_config = ConfigDict(frozen=True)

    members: tuple[str, ...]
    ports: dict[str, int] = {}
    """By process, or `process/use`."""
    tokens: dict[str, str] = {}
    """By cluster, plus one for the worker."""

    @property
    def clusters(self) -> tuple[str, ...]:
        """The hub and all members."""
        return (HUB, *self.members)

    @property
    def processes(self) -> list[str]:
        """Names of all processes, each after those that it depends on."""
        pairs = [(api_server(name), controllers(name)) for name in self.clusters]
        return [ETCD, TEMPORAL, *(name for pair in pairs for name in pair), SIMULATED_NODES, WORKER]

    def with_tokens(self) -> "FleetState":
        """Return the state with new tokens for the clusters and the worker, where missing."""
        users = (*self.clusters, WORKER)
        tokens = {name: self.tokens.get(name) or secrets.token_urlsafe(32) for name in users}
        return self.model_copy(update={"tokens": tokens})

    def with_ports(self, *, is_running: Callable[[str], bool]) -> "FleetState":
        """Return the state with usable ports: the previous ones where they are still free."""
        chosen: dict[str, int] = {}
        for use in self._port_uses():
            known = self.ports.get(use)
            if known is None or not is_running(use.partition("/")[0]):
                known = ports.choose(preferred=known, taken=frozenset(chosen.values()))
            chosen[use] = known
        return self.model_copy(update={"ports": chosen})

    def _port_uses(self) -> list[str]:
        servers = [api_server(name) for name in self.clusters]
        return [ETCD, ETCD_PEERS, TEMPORAL, TEMPORAL_UI, *servers, WORKER]


def api_server(cluster: str) -> str:
    """Return the name of the cluster's kube-apiserver process."""
    return cluster + _API_SERVER


def is_api_server(process: str) -> bool:
    """Return whether a process of this name is a kube-apiserver."""
    return process.endswith(_API_SERVER)


def controllers(cluster: str) -> str:
    """Return the name of the cluster's kube-controller-manager process."""
    return f"{cluster}-controllers"


def load(path: Path) -> FleetState | None:
    """Read the state; return None before the first `up`."""
    try:
        return FleetState.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise LocalFleetError(
            f"{path} cannot be read ({error.error_count()} errors); "
            "remove this fleet with `fleetgate local down --purge`"
        ) from error


def save(path: Path, state: FleetState) -> None:
    """Write the state."""
    write_private(path, state.model_dump_json(indent=2) + "\n")


def sized(known: FleetState | None, *, members: int | None) -> FleetState:
    """Return the state with the requested number of members; a fleet cannot shrink."""
    before = len(known.members) if known else 0
    wanted = members if members is not None else before or DEFAULT_MEMBERS
    if wanted < before:
        raise WrongSize(
            f"this fleet has {before} members and cannot shrink to {wanted}; "
            "remove it with `fleetgate local down --purge`, then start one of the size you want"
        )
    names = tuple(f"member{number}" for number in range(1, wanted + 1))
    return known.model_copy(update={"members": names}) if known else FleetState(members=names)
