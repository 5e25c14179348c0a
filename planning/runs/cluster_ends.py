"""What becomes of a cluster that is being updated: whether it is stuck, and how its update ends.

Here it is judged from facts; `workflows.updating` carries out what is judged. A further way to end
is one value of `ClusterEnd`, judged here and carried out there.

contract: update-runs 8.4 (after the loop), 8.6 and 10.1
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

STEPS: Final = 10
"""While some clusters are stuck, further ones are reported at most once per this fraction (a tenth)
of the limit."""


class ClusterEnd(StrEnum):
    """How an attempt to update a cluster has ended."""

    UPDATED = "updated"
    """The cluster has the content, and it is available."""
    PREEMPTED = "preempted"
    """Another run or a person changed the binding, so the cluster is no longer this run's."""
    TIMED_OUT = "timed out"
    """It took longer than its rollout policy allows, in each attempt; it may still finish."""
    SKIPPED = "skipped"
    """A person decided that the run continues without the cluster."""
    LEFT = "left"
    """The cluster is not part of the run any more, and a policy allows that."""
    LOST = "lost"
    """The binding was replaced, or the hub was restored without the write: the cluster is handed
    out again."""


def judge(*, preempted: bool, gone: bool, forgotten: bool) -> ClusterEnd:
    """Return how an attempt has ended.

    Args:
        preempted: the binding no longer is as the run left it.
        gone: the binding no longer exists.
        forgotten: the hub shows no trace of the update, although it was written.
    """
    if not (preempted or gone):
        return ClusterEnd.UPDATED
    return ClusterEnd.PREEMPTED if preempted and not forgotten else ClusterEnd.LOST


def overdue(
    in_flight: Mapping[str, datetime], *, order: Sequence[str], limit: timedelta, now: datetime
) -> list[str]:
    """Return the clusters that have been in flight for at least the limit, in a stage's order."""
    return [name for name in order if name in in_flight and in_flight[name] <= now - limit]


def next_overdue(
    in_flight: Mapping[str, datetime],
    *,
    known: Collection[str],
    reported: datetime | None,
    limit: timedelta,
) -> datetime | None:
    """Return when another cluster than those known is to be reported as stuck; None if none can.

    `reported` is when clusters were reported last: hundreds may become stuck one after the other,
    and each report may be a write.
    """
    begun = [at for name, at in in_flight.items() if name not in known]
    if not begun:
        return None
    due = min(begun) + limit
    return max(due, reported + limit / STEPS) if known and reported else due
