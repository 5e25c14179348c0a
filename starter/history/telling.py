"""Reading a run's events on the hub. Pure: events in, entries out."""

from collections.abc import Mapping
from typing import Final

from planning.events import Event
from planning.runs import run_events
from planning.runs.run_events import EventReason
from starter import words
from starter.history.entries import Entry, What

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


def of_event(event: Event) -> Entry | None:
    """Return the entry for a Kubernetes event on a run; None if another source reports the same."""
    what = _WHAT.get(event.reason)
    if what is None:
        return None
    match what:
        case What.STAGE_STARTED if found := run_events.STAGE_STARTED.read(event.message):
            return Entry(event.at, what, stage=found["stage"], comment=found["clusters"])
        case What.ADOPTED if found := run_events.ADOPTED.read(event.message):
            return Entry(event.at, what, comment=run_events.RESUMING.fill(**found))
        case What.PLANNED if found := run_events.PLANNED_ONLY.read(event.message):
            # Without what to type next, which is not history.
            return Entry(event.at, what, comment=run_events.PLANNED.fill(**found))
        case What.STOPPED | What.RESUMED | What.SUCCEEDED:
            return Entry(event.at, what)  # the message only repeats what happened
    return Entry(event.at, what, comment=words.reason(event.message))
