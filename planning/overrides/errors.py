"""What may be wrong with an override that is there, or with what it is about."""

from planning.errors import InitializationError, invalid, unexpected


class UnreadableError(InitializationError):
    """An override or an envelope cannot be read: a run that needs it cannot begin.

    Its own text speaks to whoever started a run; `told` to everybody else.
    """

    def __init__(self, text: str) -> None:
        self.told = unexpected(text)
        super().__init__(str(invalid(self.told)))
