"""Kubernetes events on placements and overrides.

contract: placement 7.6, decision 12
"""

from datetime import UTC, datetime

from api.kinds import Kind
from hub import Hub, Json, key_of, record
from planning import events
from planning.events import Event, EventSubject, EventType


async def write_event(
    hub: Hub,
    kind: Kind,
    body: Json,
    *,
    reason: str,
    message: str,
    key: str,
    level: EventType = EventType.WARNING,
) -> None:
    """Write an event on an object, once per `key`.

    Raises Unavailable or TooManyRequests; other errors are only logged.
    """
    event = Event(type=level, reason=reason, message=message, at=datetime.now(UTC))
    about = EventSubject(kind, *key_of(body), body["metadata"]["uid"])
    await record(hub, events.body(event, about, key=key))
