"""The events of a watch."""

from dataclasses import dataclass
from typing import Literal

from hub import errors, objects
from hub.objects import Json

EventType = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One change of one object; a bookmark's object has only a version."""

    type: EventType
    object: Json


def decode(line: bytes) -> WatchEvent:
    """Parse one line of a watch. Raises Gone if the version is no longer available."""
    try:
        event = objects.decode(line)
    except ValueError as error:
        raise errors.Unavailable("the watch ended in the middle of an event") from error
    if event["type"] == "ERROR":
        status = event["object"]
        raise errors.from_status(status, code=status.get("code", 0))
    return WatchEvent(type=event["type"], object=event["object"])
