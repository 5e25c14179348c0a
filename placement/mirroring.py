"""Copies the status of placed objects from their only member to the originals on the hub.

contract: placement 2.3 (reportBackStrategy, destination OriginalResource)
"""

import logging

from api.bindings import BindingState
from api.placements import PlacementSpec
from hub import (
    PASSING,
    Change,
    Controller,
    Hub,
    HubError,
    Json,
    Key,
    NotFound,
)
from placement.metadata import asked, is_going
from placement.object_events import write_event
from placement.parallel import all_of
from placement.stores import ScopeStores, Stores, binding_of, placement_of
from planning.placements import mirroring, rendering
from planning.placements.mirroring import NOT_MIRRORED, SEVERAL_CLUSTERS, Mirrored

logger = logging.getLogger(__name__)


class Mirror:
    """Keeps the status of one scope's original objects up to date."""

    def __init__(self, hub: Hub, stores: Stores, own: ScopeStores) -> None:
        self._hub = hub
        self._own = own
        self._stores = stores
        self.controller = Controller(f"mirror of {own.scope.placement.kind}", self._reconcile)
        own.placements.subscribe(self._on_placement)
        stores.works.subscribe(self._on_work)

    def _on_placement(self, change: Change) -> None:
        if asked(change.old) != asked(change.new):
            self.controller.queue.add(change.key)

    def _on_work(self, change: Change) -> None:
        owner = binding_of(change.new) if change.new else None
        if change.new is None or owner is None or owner[0] != self._own.scope.name:
            return
        binding = self._own.bindings.get(owner[1])
        placement = placement_of(binding) if binding else None
        # Only few placements mirror the status, and only for them do agents report it.
        if placement is not None and mirroring.reported(change.new):
            self.controller.queue.add(placement)

    async def _reconcile(self, key: Key) -> None:
        body = self._own.placements.get(key)
        if body is None or is_going(body):
            return
        spec = PlacementSpec.from_wire(body["spec"])
        if not mirroring.is_wanted(spec):
            return
        if not mirroring.picks_one(spec.policy):
            await self._refuse(body, SEVERAL_CLUSTERS)
            return
        for refusal in await all_of(self._show(each) for each in self._reported(key)):
            if refusal:
                await self._refuse(body, refusal)

    def _reported(self, placement: Key) -> list[Mirrored]:
        """Return the status of the placement's objects as reported by their member."""
        bound = [
            each
            for each in self._own.bindings_of.of(placement)
            if each["spec"]["state"] == BindingState.BOUND and not is_going(each)
        ]
        if len(bound) != 1:
            return []  # One cluster is being replaced by another.
        works = self._stores.works_for(self._own.scope.name, bound[0])
        snapshot = bound[0]["spec"]["resourceSnapshotName"]
        placed = rendering.objects(snapshot, self._own.snapshots_of.of(placement))
        reported = (each for work in works for each in mirroring.reported(work))
        return [each for each in reported if each.identity in placed]

    async def _show(self, mirrored: Mirrored) -> str:
        """Copy the status to the original; return why that is impossible, or an empty text."""
        kind = await self._hub.kind_for(mirrored.api_version, mirrored.kind)
        if kind is None:
            return ""  # Selected before its kind was removed; it will not be in the next snapshot.
        try:
            original = await self._hub.get(kind, mirrored.name, namespace=mirrored.namespace)
            if original.get("status", {}) != mirrored.status:
                body = original | {"status": mirrored.status}
                await self._hub.replace(kind, body, subresource="status")
        except NotFound:
            logger.debug("%s %s has no original or no status subresource", kind, mirrored.name)
        except PASSING:
            raise
        except HubError as error:
            return f"the status of {kind.kind} {mirrored.name} cannot be written: {error}"
        return ""

    async def _refuse(self, placement: Json, message: str) -> None:
        """Report once, in an event, why the status is not mirrored."""
        kind = self._own.scope.placement
        await write_event(
            self._hub, kind, placement, reason=NOT_MIRRORED, message=message, key=message
        )
