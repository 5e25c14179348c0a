"""Which hub and which Temporal a command talks to, and in which scope."""

import os
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Scope
from deploy.local.paths import FOLDER, HUB, FleetPaths
from hub import Hub, Limits
from hub.impersonation import NOT_IMPERSONATED, Impersonated


class Output(StrEnum):
    """Output format of objects."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"
    JSONPATH = "jsonpath"
    CUSTOM_COLUMNS = "custom-columns"

    @property
    def is_table(self) -> bool:
        """Whether it is a view for people; the others print the objects themselves."""
        return self in {Output.TABLE, Output.WIDE}


@dataclass(frozen=True, slots=True)
class Target:
    """The hub, scope and output format of a command."""

    kubeconfig: Path | None
    """None: the client finds it (KUBECONFIG, the pod's account, `~/.kube/config`)."""
    context: str | None
    namespace: str
    """Empty for cluster-scoped kinds."""
    output: Output
    template: str = ""
    """What `-o jsonpath=…` or `-o custom-columns=…` names."""
    acting_as: Impersonated = NOT_IMPERSONATED
    """The user to impersonate on the hub."""
    request_timeout: timedelta = Limits().request_timeout
    """Time limit for one request to the hub."""

    @property
    def scope(self) -> Scope:
        """The scope that the command works on."""
        return NAMESPACED_SCOPE if self.namespace else CLUSTER_SCOPE

    @property
    def fleet(self) -> FleetPaths | None:
        """The local fleet that the hub belongs to, if any."""
        named = self.kubeconfig or _from_environment()
        folder = named.resolve().parent if named else None
        return FleetPaths(folder) if folder and folder.name == FOLDER else None

    async def connect(self) -> Hub:
        """Connect to the hub."""
        return await Hub.connect(
            self.kubeconfig,
            context=self.context,
            manager="fleetgate-cli",
            limits=Limits(request_timeout=self.request_timeout),
            acting_as=self.acting_as,
        )


def _from_environment() -> Path | None:
    named = os.environ.get("KUBECONFIG")
    return Path(named) if named else None


def _of_this_folder() -> Path | None:
    """Return the hub's kubeconfig of this folder's local fleet, unless KUBECONFIG is set."""
    local = FleetPaths(Path(FOLDER)).kubeconfig(HUB)
    return None if _from_environment() or not local.exists() else local


def found(kubeconfig: Path | None, context: str | None, namespace: str) -> Target:
    """Return the target for these options; by default it is the local fleet's hub."""
    return Target(
        kubeconfig=kubeconfig or _of_this_folder(),
        context=context,
        namespace=namespace,
        output=Output.TABLE,
    )
