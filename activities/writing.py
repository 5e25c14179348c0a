"""The activities of this process that are writing now, however long the hub takes to answer."""

from collections.abc import Iterator
from contextlib import contextmanager

from temporalio import activity


class Writing:
    """Distinguishes slow activities of this process from those whose worker was lost."""

    def __init__(self) -> None:
        self._attempts: set[tuple[str, str, int]] = set()

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Record the current attempt of an activity as writing during a `with` block."""
        info = activity.info()
        attempt = (info.workflow_id or "", info.activity_id, info.attempt)
        self._attempts.add(attempt)
        try:
            yield
        finally:
            self._attempts.discard(attempt)

    def includes(self, workflow_id: str, activity_id: str, *, attempt: int) -> bool:
        """Return whether an attempt is writing."""
        return (workflow_id, activity_id, attempt) in self._attempts
