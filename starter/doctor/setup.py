"""The installation that is checked: a hub, its Temporal, and the processes in between."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Scope
from hub import Hub
from starter.targets import Target

HOME: Final = "fleetgate"
"""Namespace of fleetgate's own processes in `deploy/rbac`."""


Command = Callable[[str], str]
"""Adds the flags to a fleetgate or kubectl command that direct it to the checked hub."""


@dataclass(frozen=True, slots=True)
class Setup:
    """One installation of fleetgate, as one user sees it."""

    hub: Hub
    target: Target
    task_queue: str = "fleetgate"
    home: str = HOME
    """Namespace on the hub with the processes' ServiceAccounts."""
    metrics: str = ""
    """host:port of a worker's metrics; empty if they are not to be checked."""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes to check: only the namespaced one if a namespace is given, else both."""
        named = self.target.namespace
        return (NAMESPACED_SCOPE,) if named else (CLUSTER_SCOPE, NAMESPACED_SCOPE)

    def command(self, text: str) -> str:
        """Add the flags to a fleetgate or kubectl command that direct it to this hub."""
        flags = {"--kubeconfig": self.target.kubeconfig, "--context": self.target.context}
        given = [f"{flag} {shlex.quote(str(value))}" for flag, value in flags.items() if value]
        return " ".join([text, *given])
