"""Small writes to an object's metadata."""

from collections.abc import Collection
from typing import Final

from api import names
from api.base import OwnerReference
from api.kinds import Kind
from hub import Hub, Json, NotFound, key_of

BINDING_FINALIZERS: Final = (names.BINDING_SCHEDULER_FINALIZER, names.BINDING_WORK_FINALIZER)
"""A binding has both from the start, where KubeFleet adds the second with the first rollout: that
would be one more write for each cluster of it."""


def is_going(body: Json) -> bool:
    """Whether the object is being deleted."""
    return "deletionTimestamp" in body["metadata"]


def asked(body: Json | None) -> tuple[str, int, bool] | None:
    """What an object asks for; its status and labels ask for nothing."""
    if body is None:
        return None
    metadata = body["metadata"]
    return metadata["uid"], metadata["generation"], is_going(body)


def owner_reference(kind: Kind, owner: Json) -> OwnerReference:
    """A reference by which an object goes when its owner goes."""
    return OwnerReference(
        api_version=kind.api_version,
        kind=kind.kind,
        name=owner["metadata"]["name"],
        uid=owner["metadata"]["uid"],
        controller=True,
        block_owner_deletion=True,
    )


def lacks(body: Json, finalizers: Collection[str]) -> bool:
    """Whether the object is without one of the finalizers."""
    return not set(finalizers) <= set(body["metadata"].get("finalizers", []))


def with_finalizers(body: Json, finalizers: Collection[str]) -> Json:
    """Merge patch that adds finalizers to the version of the object that was read."""
    present = body["metadata"].get("finalizers", [])
    missing = [each for each in finalizers if each not in present]
    return _finalizers(body, [*present, *missing])


async def drop_finalizers(hub: Hub, kind: Kind, body: Json, finalizers: Collection[str]) -> None:
    """Take finalizers away; an object that is gone already is fine. Raises Conflict."""
    present = body["metadata"].get("finalizers", [])
    kept = [each for each in present if each not in finalizers]
    if kept == present:
        return
    namespace, name = key_of(body)
    try:
        await hub.patch(kind, name, _finalizers(body, kept), namespace=namespace)
    except NotFound:
        return


def _finalizers(body: Json, finalizers: list[str]) -> Json:
    # The version makes this a Conflict, not a loss, if somebody changed the list meanwhile.
    version = body["metadata"]["resourceVersion"]
    return {"metadata": {"resourceVersion": version, "finalizers": finalizers}}
