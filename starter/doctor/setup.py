"""What is examined: a hub, the Temporal that drives its runs, and the processes in between."""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Scope
from hub import Hub
from starter.targets import Target

HOME: Final = "fleetgate"
"""Namespace of fleetgate's own processes, as `deploy/rbac` has it."""


Command = Callable[[str], str]
"""Makes of a command of fleetgate or kubectl one that goes to the hub that is examined."""


@dataclass(frozen=True, slots=True)
class Setup:
    """One installation of fleetgate, as one person sees it."""

    hub: Hub
    target: Target
    task_queue: str = "fleetgate"
    home: str = HOME
    """Namespace on the hub where the processes' ServiceAccounts are."""
    metrics: str = ""
    """host:port of a worker's metrics; empty where they cannot be reached."""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """What is looked at: one namespace if one is named, else everything."""
        named = self.target.namespace
        return (NAMESPACED_SCOPE,) if named else (CLUSTER_SCOPE, NAMESPACED_SCOPE)

    def command(self, text: str) -> str:
        """A command of fleetgate or kubectl that goes to this hub."""
        flags = {"--kubeconfig": self.target.kubeconfig, "--context": self.target.context}
        given = [f"{flag} {shlex.quote(str(value))}" for flag, value in flags.items() if value]
        return " ".join([text, *given])
