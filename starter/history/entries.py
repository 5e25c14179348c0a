"""Entries of a run's history: when, what, where, who, and why."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from planning import failures
from planning.events import Event
from planning.runs import run_events
from planning.runs.run_events import EventReason


class What(StrEnum):
    """What happened; programs may rely on the values."""

    CREATED = "created"
    TAKEN_UP = "taken up"
    """The workflow that drives the run was started."""
    PLANNED = "planned"
    ADOPTED = "adopted"
    """Temporal had lost the run's workflow; a new one resumed from the run's status."""
    ASKED_TO_RUN = "asked to run"
    ASKED_TO_STOP = "asked to stop"
    STOPPED = "stopped"
    RESUMED = "resumed"
    STAGE_STARTED = "stage started"
    CLUSTER_STARTED = "cluster started"
    CLUSTER_DONE = "cluster done"
    CLUSTER_LOST = "cluster lost"
    """Its binding was changed by something other than the run."""
    CLUSTER_FAILED = "cluster failed"
    REMOVAL_STARTED = "removal started"
    REMOVED = "removed"
    APPROVAL_ASKED = "approval asked"
    APPROVED = "approved"
    APPROVAL_IGNORED = "approval ignored"
    """An approval was given that does not count."""
    WAIT_STARTED = "wait started"
    WAIT_OVER = "wait over"
    STUCK = "stuck"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    """The workflow was cancelled in Temporal."""
    TERMINATED = "terminated"
    """The workflow was terminated in Temporal."""
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """Something that happened to a run."""

    at: datetime
    what: What
    side: str = ""
    """`before` or `after` the stage; for gates only."""
    stage: str = ""
    cluster: str = ""
    who: str = ""
    """A person, a Temporal client's identity, or `with <tool>` if only the tool is known."""
    comment: str = ""

    def cells(self) -> dict[str, str]:
        """Return all fields as text, the time as RFC 3339."""
        return asdict(self) | {"at": self.at.isoformat(), "what": str(self.what)}


# -- from events on the hub ----------------------------------------------------------------


_WHAT: Final[Mapping[str, What]] = {
    EventReason.INITIALIZED: What.PLANNED,
    EventReason.ADOPTED: What.ADOPTED,
    EventReason.STOPPED: What.STOPPED,
    EventReason.RESUMED: What.RESUMED,
    EventReason.STAGE_STARTED: What.STAGE_STARTED,
    EventReason.STUCK: What.STUCK,
    EventReason.SUCCEEDED: What.SUCCEEDED,
    EventReason.FAILED: What.FAILED,
}
"""What an event reports. Gates are reported by what opens them instead."""


def of_event(event: Event) -> HistoryEntry | None:
    """Return the entry for a Kubernetes event on a run; None if another source reports the same."""
    what = _WHAT.get(event.reason)
    if what is None:
        return None
    match what:
        case What.STAGE_STARTED if found := run_events.STAGE_STARTED.read(event.message):
            return HistoryEntry(event.at, what, stage=found["stage"], comment=found["clusters"])
        case What.ADOPTED if found := run_events.ADOPTED.read(event.message):
            return HistoryEntry(event.at, what, comment=run_events.RESUMING.fill(**found))
        case What.PLANNED if found := run_events.PLANNED_ONLY.read(event.message):
            # Without what to type next, which is not history.
            return HistoryEntry(event.at, what, comment=run_events.PLANNED.fill(**found))
        case What.STOPPED | What.RESUMED | What.SUCCEEDED:
            return HistoryEntry(event.at, what)  # the message only repeats what happened
    return HistoryEntry(event.at, what, comment=failures.reason(event.message))
