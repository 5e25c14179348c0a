"""What goes wrong with a run, and the prefixes that say who can mend it.

    RunError                    what is wrong, in the words of the contract
    ├── InitializationError     the run cannot begin: Initialized=False, final
    ├── RunAborted              the run cannot go on: Succeeded=False, final
    │   └── StageAborted        and the stage at work is to blame: it fails too
    └── TransientState          others are half way through a change: look again soon

contract: update-runs 5 (error prefixes), 7, 11
"""

# ruff: noqa: N818 - named after what they mean to a run, without "Error"

from collections.abc import Sequence
from typing import Final

_ABORT: Final = "cannot continue the updateRun"
_VALIDATION: Final = _ABORT + ": failed to validate the updateRun"
USER_ERROR: Final = "failed to process the request due to a client error"
UNEXPECTED: Final = "unexpected behavior which cannot be handled by the controller"
_JOINED: Final = 10


class RunError(Exception):
    """Base of what a run can end with; its text is shown in the run's status."""


class InitializationError(RunError):
    """The run cannot begin. The text becomes the message of Initialized=False."""


class RunAborted(RunError):
    """The run cannot go on. The text becomes the message of Succeeded=False."""


class StageAborted(RunAborted):
    """The stage at work cannot go on, although nothing around the run forbids it."""


class TransientState(RunError):
    """Other controllers are half way through a change; the same look later may succeed."""


def user(text: str) -> str:
    """Prefix a text that the user can mend."""
    return f"{USER_ERROR}: {text}"


def unexpected(text: str) -> str:
    """Prefix a text that nobody should ever read."""
    return f"{UNEXPECTED}: {text}"


def invalid(text: str, *, separator: str = ": ") -> InitializationError:
    """Make the error that ends an initialization; one text is joined with a comma instead."""
    return InitializationError(f"{_VALIDATION}{separator}{text}")


def abort(text: str) -> RunAborted:
    """Make the error that ends a run under way."""
    return RunAborted(f"{_ABORT}: {text}")


def abort_stage(text: str) -> StageAborted:
    """Make the error that ends a run because of the stage at work."""
    return StageAborted(str(abort(text)))


def joined(errors: Sequence[BaseException]) -> BaseException:
    """Make one error of several that came in one round: `[e1, e2]`, alike ones once.

    Beyond ten, the rest is counted: nobody reads the same about each of 1,000 clusters. An error
    that is not about the run is a bug and goes before all others.
    """
    for error in errors:
        if not isinstance(error, RunError):
            return error
    texts = list(dict.fromkeys(str(error) for error in errors))
    if len(texts) > _JOINED:
        texts[_JOINED:] = [f"and {len(texts) - _JOINED:,} more"]
    return errors[0] if len(texts) == 1 else RunAborted(f"[{', '.join(texts)}]")
