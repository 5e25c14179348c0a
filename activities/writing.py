"""Which activities of this process are writing right now, however long the hub makes them wait."""

from collections.abc import Iterator
from contextlib import contextmanager

from temporalio import activity


class Writing:
    """Tells an activity that is slow from one whose worker was lost, if both are in one process."""

    def __init__(self) -> None:
        self._attempts: set[tuple[str, str, int]] = set()

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Count the current attempt of an activity for the time of a `with`."""
        info = activity.info()
        attempt = (info.workflow_id or "", info.activity_id, info.attempt)
        self._attempts.add(attempt)
        try:
            yield
        finally:
            self._attempts.discard(attempt)

    def includes(self, workflow_id: str, activity_id: str, *, attempt: int) -> bool:
        """Whether an attempt is writing."""
        return (workflow_id, activity_id, attempt) in self._attempts
