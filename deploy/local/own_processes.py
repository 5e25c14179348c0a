"""The fleet's processes that run fleetgate's own code: the worker and the simulated nodes."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import deploy
from deploy.local import worker_rights
from deploy.local.ports import LOOPBACK
from deploy.local.services import Service, answers
from deploy.local.state import SIMULATED_NODES, WORKER

# Without -P, a file in the current directory could shadow a module.
_PYTHON: Final = (sys.executable, "-P")

# By path, because other packages may have a module of this name as well.
_WORKER: Final = Path(deploy.__file__).parent.parent / "worker.py"

_ROLES: Final = "engine,bridge,placement,agents"

_OTHER_HUBS: Final = frozenset({"FLEETGATE_KUBECONFIG", "FLEETGATE_CONTEXT"})
"""Settings of the caller that would point the worker to another hub."""


def worker(
    *,
    hub_kubeconfig: Path,
    members: Mapping[str, Path],
    temporal_address: str,
    port: int,
    uses: tuple[str, ...],
) -> Service:
    """Return fleetgate's worker with every role, configured through its environment.

    `members` maps members to kubeconfigs. The caller's settings (`FLEETGATE_…`) are passed on.
    """
    metrics = f"{LOOPBACK}:{port}"
    return Service(
        name=WORKER,
        argv=(*_PYTHON, str(_WORKER)),
        environment={
            "FLEETGATE_LOG_FORMAT": "text",
            **_settings_of_caller(),
            "FLEETGATE_RUN": _ROLES,
            "FLEETGATE_MEMBERS": _listed(members),
            "FLEETGATE_METRICS_ADDRESS": metrics,
            "FLEETGATE_LEASE_NAMESPACE": worker_rights.NAMESPACE,
            "KUBECONFIG": str(hub_kubeconfig),
            "TEMPORAL_ADDRESS": temporal_address,
            "TEMPORAL_NAMESPACE": "default",
            # The user's own Temporal profile must not affect the fleet.
            "TEMPORAL_CONFIG_FILE": os.devnull,
            "PYTHONUNBUFFERED": "1",
        },
        address=f"http://{metrics}",
        uses=uses,
        ready=lambda: answers(f"http://{metrics}/readyz"),
    )


def simulated_nodes(*, members: Mapping[str, Path], uses: tuple[str, ...]) -> Service:
    """Return the process that stands in for scheduler and kubelet of all members."""
    return Service(
        name=SIMULATED_NODES,
        argv=(*_PYTHON, "-m", "deploy.local.simulated_nodes", _listed(members)),
        uses=uses,
    )


def _settings_of_caller() -> dict[str, str]:
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith("FLEETGATE_") and name not in _OTHER_HUBS
    }


def _listed(members: Mapping[str, Path]) -> str:
    return ",".join(f"{member}={path}" for member, path in sorted(members.items()))
