"""Writing Kubernetes events about objects.

Events are best effort and nothing depends on them: one that the API server refuses is dropped.

contract: decisions 12 and 13
"""

import logging

from temporalio import activity

from activities import stubs
from activities.errors import told_to_temporal
from activities.requests import RecordEvents
from hub import Hub, record
from planning import events
from planning.events import Event, EventSubject

logger = logging.getLogger(__name__)


class EventActivities:
    """Writes events about runs; every call may be repeated."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    @activity.defn(name=stubs.RECORD_EVENTS.name)
    async def record_events(self, request: RecordEvents) -> None:
        """Write events about a run, in order.

        Raises (retried): the hub is unreachable.
        """
        about = EventSubject.of(request.run)
        with told_to_temporal():
            for event in request.events:
                logger.info("%s: %s", event.reason, event.message)
                await write(self._hub, event, about)


async def write(hub: Hub, event: Event, about: EventSubject, *, key: str = "") -> None:
    """Write an event unless it exists.

    Raises Unavailable or TooManyRequests; logs other refusals, which a retry would not fix.
    """
    await record(hub, events.body(event, about, key=key))
