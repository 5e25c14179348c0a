"""Removing objects that a Work no longer names from the member.

contract: placement 8 (object removed from the Work)
"""

import logging
from collections.abc import Iterable

from agent.applied import passes
from api.kinds import Kind
from api.works import AppliedResource
from hub import Conflict, Hub, HubError, Json, NotFound
from planning.members import takeovers

logger = logging.getLogger(__name__)


async def remove(
    resources: Iterable[AppliedResource], *, owner_uid: str, cluster: Hub
) -> list[AppliedResource]:
    """Remove the objects, or only the owner reference of those that others own too.

    Returns the objects that still exist: being deleted, or not removed because the member refused.

    Raises:
        HubError: the member cannot be reached.
    """
    return [each for each in resources if not await _is_gone(each, owner_uid, cluster)]


async def _is_gone(resource: AppliedResource, owner_uid: str, cluster: Hub) -> bool:
    version = resource.version
    api_version = f"{resource.group}/{version}" if resource.group else version
    kind = await cluster.kind_for(api_version, resource.kind)
    if kind is None:
        # The kind's definition is gone from the member, and all its objects with it.
        return True
    try:
        return await _release(kind, resource, owner_uid, cluster)
    except HubError as error:
        if passes(error) or isinstance(error, Conflict):
            raise
        logger.warning("cannot remove %s %s: %s", resource.kind, resource.name, error)
        return False


async def _release(kind: Kind, resource: AppliedResource, owner_uid: str, cluster: Hub) -> bool:
    live = await cluster.find(kind, resource.name, namespace=resource.namespace)
    if live is None or not takeovers.is_owned(live, uid=owner_uid):
        return True
    others = [each for each in takeovers.owners(live) if each["uid"] != owner_uid]
    if others:
        await _disown(kind, live, [dict(each) for each in others], cluster)
        return True
    if "deletionTimestamp" not in live["metadata"]:
        await _delete(kind, live, cluster)
        live = await cluster.find(kind, resource.name, namespace=resource.namespace)
    return live is None


async def _disown(kind: Kind, live: Json, others: list[Json], cluster: Hub) -> None:
    metadata = live["metadata"]
    version = metadata["resourceVersion"]
    await cluster.patch(
        kind,
        metadata["name"],
        {"metadata": {"resourceVersion": version, "ownerReferences": others}},
        namespace=metadata.get("namespace", ""),
    )


async def _delete(kind: Kind, live: Json, cluster: Hub) -> None:
    metadata = live["metadata"]
    try:
        await cluster.delete(
            kind,
            metadata["name"],
            namespace=metadata.get("namespace", ""),
            uid=metadata["uid"],
            propagation="Background",
        )
    except NotFound:
        return
