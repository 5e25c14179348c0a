"""The result of checking one thing, and the installation that is checked."""

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Scope
from hub import Hub
from starter.targets import Target


class Verdict(StrEnum):
    """State of one checked thing."""

    OK = "ok"
    WARNING = "warning"
    """It works, but needs attention."""
    PROBLEM = "problem"
    """Something does not work, or will not, until it is fixed."""
    UNKNOWN = "unknown"
    """It could not be checked."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked."""

    verdict: Verdict
    about: str
    """What was checked, such as `member west-1`."""
    says: str
    """What was found, in words."""
    advice: str = ""
    """What to do about it, in words; empty if nothing, or if another finding says it."""
    commands: tuple[str, ...] = ()
    """The same as commands to run, in order."""


def ok(about: str, says: str) -> Finding:
    """Report that a thing is as it should be."""
    return Finding(Verdict.OK, about, says)


def warning(about: str, says: str, *, advice: str, commands: Iterable[str] = ()) -> Finding:
    """Report that a thing works but needs attention."""
    return Finding(Verdict.WARNING, about, says, advice, tuple(commands))


def problem(about: str, says: str, *, advice: str, commands: Iterable[str] = ()) -> Finding:
    """Report that a thing does not work."""
    return Finding(Verdict.PROBLEM, about, says, advice, tuple(commands))


def unknown(about: str, says: str, *, advice: str = "", commands: Iterable[str] = ()) -> Finding:
    """Report that a thing could not be checked."""
    return Finding(Verdict.UNKNOWN, about, says, advice, tuple(commands))


# -- what is checked -----------------------------------------------------------------------


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
