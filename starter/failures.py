"""What went wrong, as one line for a person, with what to do next and an exit code."""

from enum import IntEnum

import hub
from deploy.local.errors import LocalFleetError


class ExitCode(IntEnum):
    """How a command ended, for scripts."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    GATE = 4
    """An approval is open; like the next two only of `run watch --until gate`."""
    STOPPED = 5
    """The run is stopped, or planned and not started."""
    STUCK = 6
    """Clusters take longer than they should."""
    LATE = 7
    """`run watch --timeout` expired before the run ended."""


class Failure(Exception):  # noqa: N818 - said to people, who read "error:" in front of it
    """A failure that a person can understand: `error: …` and what to do."""

    def __init__(
        self, message: str, *, advice: str = "", exit_code: ExitCode = ExitCode.FAILED
    ) -> None:
        super().__init__(message)
        self.advice = advice
        self.exit_code = exit_code


_ADVICE: dict[type[hub.HubError], str] = {
    hub.Unavailable: "is the hub running? See `fleetgate local status`, or name another hub with "
    "--kubeconfig",
    hub.Unauthorized: "the kubeconfig's credentials are not accepted; get a new one",
    hub.Forbidden: "ask whoever runs the hub for the right to do this",
    hub.TooManyRequests: "try again in a moment",
    hub.Conflict: "someone changed it at the same time; look at it and try again",
    hub.AlreadyExists: "choose another name, or delete the old one first",
}


def explain(error: Exception) -> Failure:
    """Say what an exception means to the person who typed the command."""
    match error:
        case Failure():
            return error
        case hub.NotFound():
            return _not_found(error)
        case hub.BadConfiguration():
            return Failure(str(error), exit_code=ExitCode.USAGE)
        case LocalFleetError():
            return Failure(str(error))
        case hub.HubError():
            return Failure(str(error), advice=_advice(error))
    return Failure(
        f"unexpected {type(error).__name__}: {error}",
        advice="this is a defect; `fleetgate --debug …` shows where it happened",
    )


def _not_found(error: hub.NotFound) -> Failure:
    if not error.details.name:
        return Failure(
            f"{error}: the hub does not serve this kind",
            advice="install the kinds with `fleetgate crds --apply`",
            exit_code=ExitCode.NOT_FOUND,
        )
    return Failure(str(error), exit_code=ExitCode.NOT_FOUND)


def _advice(error: hub.HubError) -> str:
    return next((_ADVICE[kind] for kind in type(error).__mro__ if kind in _ADVICE), "")
