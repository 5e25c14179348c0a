"""Writing Kubernetes events about objects.

An event is worth a try but nothing waits for it: what the API server refuses is dropped.

contract: decisions 12 and 13
"""

import logging
from dataclasses import replace

from temporalio import activity

from activities.errors import told_to_temporal
from activities.requests import RecordEvents
from api.kinds import EVENT, Kind
from hub import AlreadyExists, Hub, HubError, TooManyRequests, Unavailable
from planning import events
from planning.events import Event, Subject

logger = logging.getLogger(__name__)


class EventActivities:
    """Tells people what became of a run; every call may be repeated."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    @activity.defn(name="record_events")
    async def record_events(self, request: RecordEvents) -> None:
        """Write events about a run, in their order.

        Raises (retried): the hub is away.
        """
        about = Subject.of(request.run)
        with told_to_temporal():
            for event in request.events:
                await write(self._hub, event, about)


async def write(hub: Hub, event: Event, about: Subject, *, key: str = "") -> None:
    """Write an event unless it is there.

    Raises Unavailable or TooManyRequests; logs other refusals, which no repetition would mend.
    """
    try:
        kind = await _as_kubectl_has_it(hub, about.kind)
        await hub.create(EVENT, events.body(event, replace(about, kind=kind), key=key))
    except AlreadyExists:
        return
    except (Unavailable, TooManyRequests):
        raise
    except HubError as error:
        logger.warning("event %s of %s %s dropped: %s", event.reason, about.kind, about.name, error)


async def _as_kubectl_has_it(hub: Hub, kind: Kind) -> Kind:
    """A kind in the version that the server prefers: `kubectl events --for` asks for no other."""
    for served in await hub.kinds():
        if (served.group, served.kind) == (kind.group, kind.kind):
            return served
    return kind
