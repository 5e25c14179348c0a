"""Kubernetes events, written on a best-effort basis."""

import logging

from api.kinds import EVENT
from hub.client import Hub
from hub.errors import AlreadyExists, HubError, TooManyRequests, Unavailable
from hub.objects import Json

logger = logging.getLogger(__name__)


async def record(hub: Hub, event: Json) -> None:
    """Create an event of the core group unless it exists.

    Raises Unavailable or TooManyRequests; logs other errors, which a retry would not fix.
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
    """Return the server's preferred version, the only one that `kubectl events --for` asks for."""
    given: str = about["apiVersion"]
    group = given.rpartition("/")[0]
    for served in await hub.kinds():
        if (served.group, served.kind) == (group, about["kind"]):
            return served.api_version
    return given
