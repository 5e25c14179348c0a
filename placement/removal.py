"""Removes what a deleted placement has created.

contract: placement 7.6 (the last event), 7.8
"""

from collections.abc import Collection

from api import names
from api.reasons import CLEANED_UP
from hub import Hub, Json, Key
from placement.metadata import drop_finalizers, is_going
from placement.object_events import write_event
from placement.stores import ScopeStores, WriteThroughStore
from planning.events import EventType


class Removal:
    """Removes what a deleted placement has created (contract: placement 7.8)."""

    def __init__(
        self, hub: Hub, stores: ScopeStores, key: Key, *, finalizers: Collection[str]
    ) -> None:
        self._hub = hub
        self._stores = stores
        self._finalizers = finalizers
        self._namespace, self._name = key
        self._labels = f"{names.PARENT_PLACEMENT}={self._name}"

    async def go_on(self, placement: Json) -> None:
        """Do the next step; the deletion of the last binding triggers the one after it."""
        bindings = await self._left_of(self._stores.bindings)
        if any(not is_going(each) for each in bindings):
            await self._delete_all(self._stores.bindings)
        if bindings:
            return
        await self._delete_all(self._stores.snapshots)
        await self._delete_all(self._stores.policies)
        await drop_finalizers(self._hub, self._stores.scope.placement, placement, self._finalizers)
        reason, message = CLEANED_UP
        await write_event(
            self._hub,
            self._stores.scope.placement,
            placement,
            level=EventType.NORMAL,
            reason=reason,
            message=message,
            key=reason,
        )

    async def _left_of(self, store: WriteThroughStore) -> list[Json]:
        # List on the hub: the watch may not have shown a binding that was just created.
        listing = await self._hub.list(
            store.kind, namespace=self._namespace, labels=self._labels, metadata_only=True
        )
        return listing.items

    async def _delete_all(self, store: WriteThroughStore) -> None:
        await self._hub.delete_all(store.kind, namespace=self._namespace, labels=self._labels)
