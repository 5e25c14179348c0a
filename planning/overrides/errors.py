"""Errors of existing overrides, and of the objects that they select."""

from planning.errors import InitializationError, invalid, unexpected


class UnreadableError(InitializationError):
    """An override or an envelope cannot be read: a run that needs it cannot start.

    The error's text is for the status of a run; `told` is for every other place.
    """

    def __init__(self, text: str) -> None:
        self.told = unexpected(text)
        super().__init__(str(invalid(self.told)))
