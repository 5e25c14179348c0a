"""Deletes snapshots of content and policy beyond a placement's limit, once they are unused.

contract: placement 4, 5 (revisionHistoryLimit); decision records 0011 and 0035
"""

import contextlib
from datetime import timedelta

from api.placements import Placement
from api.policies import PolicySnapshot
from hub import Change, Controller, Hub, Json, Key, NotFound, key_of
from placement.content_watches import ContentWatches, Subject
from placement.metadata import asked, is_going
from placement.selection import Read, ReadRecord
from placement.settings import PlacementSettings
from placement.snapshots import Users, delete_revisions, needs_of
from placement.stores import ScopeStores, placement_of
from planning.placements import policy_snapshots, snapshotting
from planning.placements.snapshotting import Revision, master_name


class Pruner:
    """Prunes a placement's snapshots when one is created, and when one may have lost its last user.

    Bindings are followed for this. Runs are not, because their status is large and changes often,
    except those that keep a snapshot beyond the limit from being deleted.
    """

    def __init__(self, hub: Hub, stores: ScopeStores, *, settings: PlacementSettings) -> None:
        self._hub = hub
        self._stores = stores
        self._settings = settings
        self._watches = ContentWatches(hub, self._on_run, alike=_alike)
        self.controller = Controller(
            f"pruning of {stores.scope.resource_snapshot.kind}", self._reconcile
        )
        stores.placements.subscribe(self._on_placement)
        stores.bindings.subscribe(self._on_binding)
        for made in (stores.snapshots, stores.policies):
            made.subscribe(self._on_made)

    async def close(self) -> None:
        """Stop following runs."""
        await self._watches.close()

    def _look_soon(self, key: Key | None) -> None:
        if key is not None:
            delay = self._settings.status_delay(self._stores.bindings_of.size(key))
            self.controller.queue.add_after(key, delay)

    def _on_placement(self, change: Change) -> None:
        if asked(change.old) != asked(change.new):
            self._look_soon(change.key)

    def _on_made(self, change: Change) -> None:
        if change.old is None and change.new is not None:
            self._look_soon(placement_of(change.new))

    def _on_binding(self, change: Change) -> None:
        if change.old is not None and _named(change.old) != _named(change.new):
            self._look_soon(placement_of(change.old))

    def _on_run(self, subject: Subject) -> None:
        self._look_soon(subject[1])

    async def _reconcile(self, key: Key) -> timedelta | None:
        subject, body = (self._stores.scope.name, key), self._stores.placements.get(key)
        if body is None or is_going(body):
            self._watches.drop(subject)
            return None
        limit = Placement.from_wire(body).spec.revision_history_limit
        revisions, policies = self._content_beyond(key, limit), self._policies_beyond(key, limit)
        sight = ReadRecord()
        if revisions or policies:
            users = await Users.ask(self._hub, self._stores.scope, key)
            await self._delete(key, revisions, policies, users)
            beyond = {*policies, *(master_name(key[1], each.index) for each in revisions)}
            for run in users.runs:
                if not needs_of(run).isdisjoint(beyond):
                    sight.note(Read(self._stores.scope.run, *key_of(run)), [run])
        self._watches.want(subject, sight)
        return None

    def _content_beyond(self, key: Key, limit: int) -> list[Revision]:
        """Return the revisions beyond the limit that, as far as is known, no binding names."""
        known = snapshotting.revisions(self._stores.snapshots_of.of(key))
        beyond = snapshotting.superfluous(known, keep=limit)
        if not beyond:
            return []
        bound = {_named(each) for each in self._stores.bindings_of.of(key)}
        return [each for each in beyond if master_name(key[1], each.index) not in bound]

    def _policies_beyond(self, key: Key, limit: int) -> list[str]:
        known = [PolicySnapshot.from_wire(each) for each in self._stores.policies_of.of(key)]
        return policy_snapshots.superfluous(known, keep=limit)

    async def _delete(
        self, key: Key, revisions: list[Revision], policies: list[str], users: Users
    ) -> None:
        needed = users.needed()
        await delete_revisions(self._hub, self._stores.scope, key, revisions, but=needed)
        for name in policies:
            if name not in needed:
                with contextlib.suppress(NotFound):
                    await self._hub.delete(self._stores.policies.kind, name, namespace=key[0])


def _named(binding: Json | None) -> str:
    """Return the name of a binding's master snapshot; empty if it has none."""
    return "" if binding is None else str(binding["spec"].get("resourceSnapshotName", ""))


def _alike(old: Json, new: Json) -> bool:
    return needs_of(old) == needs_of(new)
