"""Writing Kubernetes events: worth a try, but nothing waits for one."""

import logging

from api.kinds import EVENT
from hub.client import Hub
from hub.errors import AlreadyExists, HubError, TooManyRequests, Unavailable
from hub.objects import Json

logger = logging.getLogger(__name__)


async def record(hub: Hub, event: Json) -> None:
    """Write an event of the core group unless it is there.

    Raises Unavailable or TooManyRequests; logs other refusals, which no repetition would mend.
    """
    about = event["involvedObject"]
    try:
        served = about | {"apiVersion": await _as_kubectl_has_it(hub, about)}
        await hub.create(EVENT, event | {"involvedObject": served})
    except AlreadyExists:
        return
    except (Unavailable, TooManyRequests):
        raise
    except HubError as error:
        reason, kind, name = event["reason"], about["kind"], about["name"]
        logger.warning("event %s of %s %s dropped: %s", reason, kind, name, error)


async def _as_kubectl_has_it(hub: Hub, about: Json) -> str:
    """The version that the server prefers: `kubectl events --for` asks for no other."""
    given: str = about["apiVersion"]
    group = given.rpartition("/")[0]
    for served in await hub.kinds():
        if (served.group, served.kind) == (group, about["kind"]):
            return served.api_version
    return given
