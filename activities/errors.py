"""Translation of errors of hub and planning into errors that Temporal understands.

What happens depends on who can fix the error: errors that a user has to fix are never
retried, transient ones are retried by Temporal without limit, and anything else is a bug that fails
with its stack trace.
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
"""Maximum number of characters of an error in history; the full text may be a megabyte."""


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
        # Benign: the run's status reports it to the people concerned, so it need not be logged.
        raise ApplicationError(
            _bounded(error),
            type=_family(error),
            non_retryable=True,
            category=ApplicationErrorCategory.BENIGN,
        ) from error
    except TooManyRequests as error:
        # Benign: the hub is busy, and the request is retried after the delay that the hub asks for.
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
    """Return the name of the error class that workflows know; the error may be a subclass."""
    return next(each.__name__ for each in type(error).__mro__ if each.__module__ == errors.__name__)


def _bounded(error: Exception) -> str:
    return bounded(str(error), MAX_TEXT)
