"""Objects that joining creates, marked by labels as made for one member."""

from collections.abc import Callable
from typing import Final

from api.kinds import NAMESPACE, Kind
from api.names import MEMBER_NAME
from deploy.errors import DeployError
from hub import AlreadyExists, Hub, Json

MANAGED_BY: Final = "app.kubernetes.io/managed-by"
JOINING: Final = "fleetgate-member-join"

Say = Callable[[str], None]
"""Tells the person what was done, one line at a time."""


def is_ours(body: Json) -> bool:
    """Return whether joining created the object."""
    return _labels(body).get(MANAGED_BY) == JOINING


def member_of(body: Json) -> str:
    """Return the member that joining created the object for; empty if it did not."""
    return _labels(body).get(MEMBER_NAME, "") if is_ours(body) else ""


async def ensure_namespace(cluster: Hub, name: str, *, say: Say) -> None:
    """Create the namespace unless it exists; it is shared, so it is never deleted."""
    if await cluster.find(NAMESPACE, name) is not None:
        return
    try:
        await cluster.create(NAMESPACE, {"metadata": {"name": name}})
    except AlreadyExists:
        return
    say(f"namespace/{name} created")


async def ensure(cluster: Hub, kind: Kind, body: Json, *, member: str, say: Say) -> None:
    """Create an object, or update it if it was created for this member; leave any other as it is.

    If there is one of someone else, `say` tells that it stays unchanged.
    """
    name, namespace = body["metadata"]["name"], body["metadata"].get("namespace", "")
    found = await cluster.find(kind, name, namespace=namespace)
    if found is None or member_of(found) == member:
        await cluster.apply(kind, _marked(body, member))
    if found is None:
        say(f"{shown(kind, name)} created")
    elif member_of(found) != member:
        say(f"{shown(kind, name)} exists already: not changed")


async def claim(
    cluster: Hub, kind: Kind, body: Json, *, member: str, take_over: bool, say: Say
) -> None:
    """Create an object or update it.

    Raises DeployError if it was not created for this member, unless it is to be taken over.
    """
    name, namespace = body["metadata"]["name"], body["metadata"].get("namespace", "")
    found = await cluster.find(kind, name, namespace=namespace)
    if found is not None and member_of(found) != member and not take_over:
        raise DeployError(
            f"{shown(kind, name)} in namespace {namespace} exists and was not created for "
            f"member {member}: delete it, or replace it with --take-over"
        )
    await cluster.apply(kind, _marked(body, member))
    say(f"{shown(kind, name)} {'created' if found is None else 'updated'}")


async def remove(
    cluster: Hub, kind: Kind, name: str, *, namespace: str = "", member: str, say: Say
) -> bool:
    """Delete an object that was created for this member; return whether there was one."""
    found = await cluster.find(kind, name, namespace=namespace)
    if found is None or member_of(found) != member:
        return False
    await cluster.delete(kind, name, namespace=namespace, uid=found["metadata"]["uid"])
    say(f"{shown(kind, name)} deleted")
    return True


def shown(kind: Kind, name: str) -> str:
    """Return kubectl's name for an object: `clusterrole.rbac.authorization.k8s.io/<name>`."""
    group = f".{kind.group}" if kind.group else ""
    return f"{kind.kind.lower()}{group}/{name}"


def _marked(body: Json, member: str) -> Json:
    metadata = body["metadata"]
    labels = metadata.get("labels", {}) | {MANAGED_BY: JOINING, MEMBER_NAME: member}
    return body | {"metadata": metadata | {"labels": labels}}


def _labels(body: Json) -> dict[str, str]:
    return body["metadata"].get("labels") or {}
