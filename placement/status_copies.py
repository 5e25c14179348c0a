"""Copies a placement's status into its namespace, for people with access to only that one.

contract: placement 7.7
"""

from collections.abc import Callable
from datetime import UTC, datetime

from api import names
from api.kinds import CLUSTER_RESOURCE_PLACEMENT, CLUSTER_RESOURCE_PLACEMENT_STATUS
from api.placements import Placement, PlacementStatus
from api.reasons import PlacementMessage
from hub import (
    PASSING,
    AlreadyExists,
    Change,
    Controller,
    Hub,
    HubError,
    Json,
    Key,
    NotFound,
    key_of,
)
from placement.metadata import drop_finalizers, is_going, owner_reference
from placement.stores import WriteThroughStore
from planning.placements import status_copies

FINALIZERS = (names.PLACEMENT_STATUS_FINALIZER,)


class StatusCopies:
    """Keeps the copies of the status of ClusterResourcePlacements."""

    def __init__(self, hub: Hub, copies: WriteThroughStore) -> None:
        self._hub = hub
        self._copies = copies
        self._copies_of = copies.group(lambda body: body["metadata"]["name"])
        self.controller = Controller("finalizers of copies of placement status", self._release)
        copies.subscribe(self._on_copy)

    def on_change(self, callback: Callable[[Key], None]) -> None:
        """Call `callback` with a placement's key when its copy may have been changed."""
        self._copies.subscribe(lambda change: callback(("", change.key[1])))

    def _on_copy(self, change: Change) -> None:
        if change.new is not None and _is_held(change.new):
            self.controller.queue.add(change.key)

    async def _release(self, key: Key) -> None:
        """Remove the finalizer that an earlier build has set, which would block deletion."""
        body = self._copies.get(key)
        if body is not None and _is_held(body):
            await drop_finalizers(self._hub, CLUSTER_RESOURCE_PLACEMENT_STATUS, body, FINALIZERS)

    async def keep(self, body: Json, placement: Placement, status: PlacementStatus) -> str:
        """Update the copy; return why that is impossible, or an empty text."""
        namespace = status_copies.namespace_of(placement)
        await self.remove(placement.metadata.name, but=namespace)
        if not namespace:
            return PlacementMessage.NO_NAMESPACE
        present = self._copies.get((namespace, placement.metadata.name))
        if present is not None and (is_going(present) or _says(present, status)):
            return ""
        owner = owner_reference(CLUSTER_RESOURCE_PLACEMENT, body)
        copy = status_copies.body(placement, status, owner=owner, now=datetime.now(UTC))
        try:
            written = await self._write(copy, present)
        except (*PASSING, AlreadyExists):
            raise
        except HubError as error:
            return str(error)
        self._copies.wrote(written)
        return ""

    async def _write(self, copy: Json, present: Json | None) -> Json:
        kind = CLUSTER_RESOURCE_PLACEMENT_STATUS
        if present is None:
            return await self._hub.create(kind, copy)
        # Replace it as a whole, which undoes any changes by others.
        typed = {"apiVersion": kind.api_version, "kind": kind.kind}
        metadata = present["metadata"] | copy["metadata"]
        return await self._hub.replace(kind, copy | typed | {"metadata": metadata})

    async def remove(self, name: str, *, but: str = "") -> None:
        """Delete the copies of a placement, except in one namespace."""
        for copy in self._copies_of.of(name):
            namespace, _ = key_of(copy)
            if namespace == but or is_going(copy):
                continue
            try:
                await self._hub.delete(CLUSTER_RESOURCE_PLACEMENT_STATUS, name, namespace=namespace)
            except NotFound:
                continue


def _is_held(copy: Json) -> bool:
    return not set(FINALIZERS).isdisjoint(copy["metadata"].get("finalizers", []))


def _says(copy: Json, status: PlacementStatus) -> bool:
    return PlacementStatus.from_wire(copy["sourceStatus"]) == status_copies.copied(status)
