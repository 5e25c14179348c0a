"""Failures as one line for a person, with advice and an exit code."""

from enum import IntEnum

import hub
from deploy.errors import DeployError


class ExitCode(IntEnum):
    """Exit codes of commands."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    GATE = 4
    """An approval is open; like the next two, only from `run watch --until gate`."""
    STOPPED = 5
    """The run is stopped, or planned and not started."""
    STUCK = 6
    """The run is stuck, or paused by its rollout policy."""
    LATE = 7
    """`run watch --timeout` expired before the run ended."""


class CommandFailure(Exception):  # noqa: N818 - printed after "error:"
    """A failure that is reported as `error: …` and what to do."""

    def __init__(
        self, message: str, *, advice: str = "", exit_code: ExitCode = ExitCode.FAILED
    ) -> None:
        super().__init__(message)
        self.advice = advice
        self.exit_code = exit_code


_ADVICE: dict[type[hub.HubError], str] = {
    hub.Unavailable: "is the hub running? Check `fleetgate local status`, or use another hub with "
    "--kubeconfig",
    hub.Unauthorized: "the hub rejects the kubeconfig's credentials; get new ones",
    hub.Forbidden: "ask the hub's administrators for the right to do this",
    hub.TooManyRequests: "try again in a moment",
    hub.Conflict: "it was changed at the same time; check it and try again",
    hub.AlreadyExists: "choose another name, or delete the old one first",
}


def explain(error: Exception) -> CommandFailure:
    """Turn an exception into a failure for the person who ran the command."""
    match error:
        case CommandFailure():
            return error
        case hub.NotFound():
            return _not_found(error)
        case hub.BadConfiguration():
            return CommandFailure(str(error), exit_code=ExitCode.USAGE)
        case DeployError():
            return CommandFailure(str(error))
        case hub.HubError():
            return CommandFailure(str(error), advice=_advice(error))
    return CommandFailure(
        f"unexpected {type(error).__name__}: {error}",
        advice="this is a bug; `fleetgate --debug …` shows where it happened",
    )


def _not_found(error: hub.NotFound) -> CommandFailure:
    if not error.details.name:
        return CommandFailure(
            f"{error}: the hub does not serve this kind",
            advice="install the CRDs with `fleetgate crds --apply`",
            exit_code=ExitCode.NOT_FOUND,
        )
    return CommandFailure(str(error), exit_code=ExitCode.NOT_FOUND)


def _advice(error: hub.HubError) -> str:
    return next((_ADVICE[kind] for kind in type(error).__mro__ if kind in _ADVICE), "")
