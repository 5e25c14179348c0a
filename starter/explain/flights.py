"""The clusters of a run that are in flight, stuck or failed. Pure."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from api.reasons import RunReason
from starter.views import ClusterRow, Progress, RunView

_STUCK: Final = re.compile(r"stuck waiting for (.*?)(\.\.\.)? cluster\(s\) in stage")
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Stuck:
    """Clusters that have exceeded the worker's limit for a cluster (`--stuck-after`)."""

    names: tuple[str, ...] = ()
    more: bool = False
    """Whether there are more than the run's status names."""

    def __str__(self) -> str:
        named = ", ".join(self.names) or "clusters"
        return f"{named} and more" if self.more else named


def stuck(view: RunView) -> Stuck:
    """Return the stuck clusters by the run's Progressing condition."""
    found = view.deciding
    if found is None or found.reason != RunReason.STUCK:
        return Stuck()
    named = _STUCK.search(found.message)
    return Stuck(tuple(named[1].split(", ")), more=bool(named[2])) if named else Stuck()


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
