"""Clusters that a run is at work on, and which of them take too long. Pure."""

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
    """Clusters that take longer than a cluster may."""

    names: tuple[str, ...] = ()
    more: bool = False
    """There are more than the run's status names."""

    def __str__(self) -> str:
        named = ", ".join(self.names) or "clusters"
        return f"{named} and more" if self.more else named


def stuck(view: RunView) -> Stuck:
    """What the run says of clusters that take too long."""
    found = view.deciding
    if found is None or found.reason != RunReason.STUCK:
        return Stuck()
    named = _STUCK.search(found.message)
    return Stuck(tuple(named[1].split(", ")), more=bool(named[2])) if named else Stuck()


def at_work(view: RunView) -> list[ClusterRow]:
    """Clusters that are being updated or removed, the longest at it first."""
    rows = [
        each
        for stage in view.stages
        for each in stage.clusters
        if each.progress is Progress.UPDATING
    ]
    return sorted(rows, key=lambda each: each.started or _NEVER)


def failed(view: RunView) -> list[ClusterRow]:
    """Clusters that made the run fail."""
    return [
        each for stage in view.stages for each in stage.clusters if each.progress is Progress.FAILED
    ]
