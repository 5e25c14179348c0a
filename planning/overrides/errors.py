"""Errors of existing overrides, and of the objects that they select."""

from planning.errors import InitializationError
from planning.failures import Failure


class UnreadableError(InitializationError):
    """An override or an envelope cannot be read: a run that needs it cannot start.

    The error's text is for the status of a run; `words` are for every other place.
    """

    def __init__(self, failure: Failure, **parameters: object) -> None:
        self.words = failure.words(**parameters)
        super().__init__(str(failure.error(**parameters)))
