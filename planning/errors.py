"""Errors of runs, and the prefixes that say who can fix them.

    RunError                    what is wrong, in the contract's words
    ├── InitializationError     the run cannot start: Initialized=False, final
    ├── RunAborted              the run cannot continue: Succeeded=False, final
    │   ├── StageAborted        the current stage is the cause and fails too
    │   └── Superseded          a newer run of the placement replaces it
    └── TransientState          another controller is in the middle of a change: retry soon

contract: update-runs 5 (error prefixes), 7, 11
"""

# ruff: noqa: N818 - named after what they mean to a run, without "Error"

from collections.abc import Sequence
from typing import Final

ABORTED: Final = "cannot continue the updateRun"
NOT_VALID: Final = ABORTED + ": failed to validate the updateRun"
USER_ERROR: Final = "failed to process the request due to a client error"
UNEXPECTED: Final = "unexpected behavior which cannot be handled by the controller"
_JOINED: Final = 10


class RunError(Exception):
    """Base of the errors of a run; the text is shown in the run's status."""


class InitializationError(RunError):
    """The run cannot start. The text becomes the message of Initialized=False."""


class RunAborted(RunError):
    """The run cannot continue. The text becomes the message of Succeeded=False."""


class StageAborted(RunAborted):
    """The current stage cannot continue, although nothing outside it prevents the run."""


class Superseded(RunAborted):
    """The run ends because a newer run of the placement replaces it."""


class TransientState(RunError):
    """Another controller is in the middle of a change; the same check may succeed later."""


def user(text: str) -> str:
    """Prefix the text of an error that the user can fix."""
    return f"{USER_ERROR}: {text}"


def unexpected(text: str) -> str:
    """Prefix the text of an error that should never occur."""
    return f"{UNEXPECTED}: {text}"


def joined(errors: Sequence[BaseException]) -> BaseException:
    """Combine the errors of one round into one, `[e1, e2]`, without duplicates.

    After ten, the rest is only counted: 1,000 clusters may fail in the same way. An error that is
    not a RunError is a bug and takes precedence.
    """
    for error in errors:
        if not isinstance(error, RunError):
            return error
    texts = list(dict.fromkeys(str(error) for error in errors))
    if len(texts) > _JOINED:
        texts[_JOINED:] = [f"and {len(texts) - _JOINED:,} more"]
    return errors[0] if len(texts) == 1 else RunAborted(f"[{', '.join(texts)}]")
