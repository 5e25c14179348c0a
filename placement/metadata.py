"""Reading and changing the metadata of objects."""

from collections.abc import Collection
from typing import Final

from api import names
from api.base import OwnerReference
from api.kinds import Kind
from hub import Hub, Json, NotFound, key_of

BINDING_FINALIZERS: Final = (names.BINDING_SCHEDULER_FINALIZER, names.BINDING_WORK_FINALIZER)
"""A binding has both from the start. KubeFleet adds the second with the first rollout, which would
be one more write per cluster."""


def is_going(body: Json) -> bool:
    """Return whether the object is being deleted."""
    return "deletionTimestamp" in body["metadata"]


def asked(body: Json | None) -> tuple[str, int, bool] | None:
    """Return what identifies an object's desired state, regardless of its status and labels."""
    if body is None:
        return None
    metadata = body["metadata"]
    return metadata["uid"], metadata["generation"], is_going(body)


def owner_reference(kind: Kind, owner: Json) -> OwnerReference:
    """Return an owner reference, by which an object is deleted together with its owner."""
    return OwnerReference(
        api_version=kind.api_version,
        kind=kind.kind,
        name=owner["metadata"]["name"],
        uid=owner["metadata"]["uid"],
        controller=True,
        block_owner_deletion=True,
    )


def lacks(body: Json, finalizers: Collection[str]) -> bool:
    """Return whether the object lacks at least one of the finalizers."""
    return not set(finalizers) <= set(body["metadata"].get("finalizers", []))


def with_finalizers(body: Json, finalizers: Collection[str]) -> Json:
    """Return a merge patch that adds finalizers to the version of the object that was read."""
    present = body["metadata"].get("finalizers", [])
    missing = [each for each in finalizers if each not in present]
    return _finalizers(body, [*present, *missing])


async def drop_finalizers(hub: Hub, kind: Kind, body: Json, finalizers: Collection[str]) -> None:
    """Remove finalizers; do nothing if the object is already gone. Raises Conflict."""
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
    # With the version, a change of the list in the meantime causes a Conflict and is not lost.
    version = body["metadata"]["resourceVersion"]
    return {"metadata": {"resourceVersion": version, "finalizers": finalizers}}
