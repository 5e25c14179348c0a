"""The clusters of a run that are in flight, stuck or failed. Pure."""

from datetime import UTC, datetime
from typing import Final

from api.reasons import RunReason, named_as_stuck
from planning.runs.views import ClusterRow, Progress, RunView

_NEVER: Final = datetime.max.replace(tzinfo=UTC)


def stuck(view: RunView, *, now: datetime) -> list[ClusterRow]:
    """Return the clusters that have been in flight for longer than a cluster may, longest first.

    The run's message names only three of them. The worker's limit is not on the hub, but follows
    from how long the first of those three had been in flight when the run became stuck.
    """
    found = view.deciding
    if found is None or found.reason != RunReason.STUCK:
        return []
    rows, named = at_work(view), named_as_stuck(found.message)
    begun = [each.started for each in rows if each.name in named and each.started]
    if not begun:
        return [each for each in rows if each.name in named]
    limit = found.last_transition_time - min(begun)
    return [
        each
        for each in rows
        if each.name in named or (each.started and now - each.started >= limit)
    ]


def at_work(view: RunView) -> list[ClusterRow]:
    """Return the clusters that are being updated or removed, longest first."""
    rows = [
        each
        for stage in view.stages
        for each in stage.clusters
        if each.progress is Progress.UPDATING
    ]
    return sorted(rows, key=lambda each: each.started or _NEVER)


def failed(view: RunView) -> list[ClusterRow]:
    """Return the clusters that made the run fail."""
    return [
        each for stage in view.stages for each in stage.clusters if each.progress is Progress.FAILED
    ]
