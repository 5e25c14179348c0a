"""Attempts at updating a cluster, where a rollout policy limits how long each may take.

policies: 2.1 (clusters), 3
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from planning.runs.facts import Fact
from planning.runs.rules import StageRules


class Attempt(Fact):
    """One attempt at updating a cluster."""

    number: int = 1
    began: datetime
    """When it began, or will begin."""
    is_ahead: bool = False
    """Whether it is yet to begin."""

    def due(self, timeout: timedelta) -> datetime:
        """Return when something has to be done about the cluster, unless it is done by then."""
        return self.began if self.is_ahead else self.began + timeout

    def following(self, rules: StageRules, *, now: datetime) -> "Attempt | None":
        """Return the attempt that follows once this one is due; None if it was the last."""
        if self.is_ahead:
            return self.model_copy(update={"is_ahead": False})
        if self.number > rules.retries:
            return None
        return Attempt(number=self.number + 1, began=now + rules.retry_after, is_ahead=True)

    def again(self, *, now: datetime) -> "Attempt":
        """Return a further attempt that a person asks for, at once."""
        return Attempt(number=self.number + 1, began=now)


def next_due(attempts: Iterable[Attempt], timeout: timedelta) -> datetime | None:
    """Return when the next of the attempts is due; None without attempts."""
    return min((each.due(timeout) for each in attempts), default=None)
