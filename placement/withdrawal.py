"""Deletes a deleted binding's Works, and thereby what they have placed on the member.

contract: placement 7.8, 8 (a deleted Work)
"""

import contextlib

from api import names
from api.kinds import WORK, Scope
from hub import Hub, Json, Key, NotFound, key_of
from placement.metadata import BINDING_FINALIZERS, drop_finalizers, is_going
from placement.parallel import all_of
from placement.stores import Stores, binding_of


async def delete_work(hub: Hub, key: Key) -> None:
    """Delete a Work unless it is already gone; the member's agent removes its finalizer."""
    namespace, name = key
    with contextlib.suppress(NotFound):
        await hub.delete(WORK, name, namespace=namespace)


class Withdrawal:
    """Withdraws the content of one scope's deleted bindings."""

    def __init__(self, hub: Hub, stores: Stores, scope: Scope) -> None:
        self._hub = hub
        self._stores = stores
        self._scope = scope

    async def go_on(self, key: Key, binding: Json | None) -> None:
        """Delete a binding's Works; once they are gone, remove the binding's finalizers.

        Without a binding: delete the Works that it left behind.
        """
        if binding is None and not await self._is_gone(key):
            return
        works = await self._works_left(key, binding)
        await all_of(delete_work(self._hub, key_of(each)) for each in works if not is_going(each))
        if binding is not None and not works:
            await drop_finalizers(self._hub, self._scope.binding, binding, BINDING_FINALIZERS)

    async def _is_gone(self, key: Key) -> bool:
        """Return whether Works are left behind, and the hub confirms that their binding is gone."""
        if not self._left_behind(key):
            return False
        return await self._hub.find(self._scope.binding, key[1], namespace=key[0]) is None

    async def _works_left(self, key: Key, binding: Json | None) -> list[Json]:
        if binding is None:
            return self._left_behind(key)
        works = self._stores.works_for(self._scope.name, binding)
        if works:
            return works
        # List on the hub: the watch may not have shown a Work that was just created.
        listing = await self._hub.list(
            WORK,
            namespace=names.member_namespace(binding["spec"]["targetCluster"]),
            labels=f"{names.PARENT_BINDING}={key[1]}",
            metadata_only=True,
        )
        return [each for each in listing.items if binding_of(each) == (self._scope.name, key)]

    def _left_behind(self, key: Key) -> list[Json]:
        return self._stores.works_of.of((self._scope.name, key))
