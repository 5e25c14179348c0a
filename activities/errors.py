"""From errors of hub and planning to errors that Temporal understands.

Who can mend it decides (design D10): what a user has to mend is never retried, what passes is
retried by Temporal without end, and anything else is a bug that fails with its stack.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from hub import Conflict, HubError, TooManyRequests, Unavailable
from hub.errors import bounded
from planning import errors
from planning.errors import RunError, TransientState

API_ERROR: Final = "error returned by the API server"
MAX_TEXT: Final = 8000
"""Characters of an error in history; the whole may be a megabyte."""


@contextmanager
def told_to_temporal() -> Iterator[None]:
    """Translate what an activity raises; cancellation and bugs pass through."""
    try:
        yield
    except TransientState as error:
        raise ApplicationError(
            _bounded(error), type="TransientState", category=ApplicationErrorCategory.BENIGN
        ) from error
    except RunError as error:
        # Benign: the run's status says it to whom it concerns, the worker's log need not.
        raise ApplicationError(
            _bounded(error),
            type=_family(error),
            non_retryable=True,
            category=ApplicationErrorCategory.BENIGN,
        ) from error
    except TooManyRequests as error:
        # Benign: a hub that is busy says so, and is asked again when it wants to be.
        raise ApplicationError(
            _bounded(error),
            type="TooManyRequests",
            next_retry_delay=error.retry_after,
            category=ApplicationErrorCategory.BENIGN,
        ) from error
    except (Unavailable, Conflict) as error:
        raise ApplicationError(_bounded(error), type=type(error).__name__) from error
    except HubError as error:
        raise ApplicationError(
            f"{API_ERROR}: {_bounded(error)}", type=type(error).__name__
        ) from error


def _family(error: RunError) -> str:
    """Name of the kind of error that a workflow knows; there may be narrower ones."""
    return next(each.__name__ for each in type(error).__mro__ if each.__module__ == errors.__name__)


def _bounded(error: Exception) -> str:
    return bounded(str(error), MAX_TEXT)
