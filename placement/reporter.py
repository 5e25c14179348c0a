"""Writes the status of placements, no more often than necessary.

contract: placement 7
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from api.placements import Placement, PlacementStatus
from api.policies import PolicySnapshot
from hub import Change, Controller, Hub, Json, Key, NotFound, record
from placement.contents import SelectorVerdict
from placement.metadata import asked, is_going
from placement.metrics import PlacementMetrics
from placement.settings import REFUSAL_RECHECK, PlacementSettings
from placement.status_copies import StatusCopies
from placement.stores import ScopeStores, placement_of
from planning import events
from planning.events import EventSubject
from planning.placements import (
    placement_progress,
    placement_status,
    policy_snapshots,
    status_copies,
)
from planning.placements.placement_status import View
from planning.placements.snapshotting import index_of, is_master, number_of


class Reporter:
    """Keeps the status of one scope's placements up to date."""

    def __init__(
        self,
        hub: Hub,
        stores: ScopeStores,
        *,
        settings: PlacementSettings,
        verdict: Callable[[Json], SelectorVerdict | None],
        metrics: PlacementMetrics,
        copies: StatusCopies | None = None,
    ) -> None:
        self._hub = hub
        self._metrics = metrics
        self._copies = copies
        self._stores = stores
        self._settings = settings
        self._verdict = verdict
        self.controller = Controller(
            f"status of {stores.scope.placement.kind}", self._reconcile, workers=2
        )
        stores.placements.subscribe(self._on_placement)
        for store in (stores.policies, stores.bindings, stores.snapshots):
            store.subscribe(self._on_owned)
        if copies is not None:
            copies.on_change(self.look_soon)

    def look_soon(self, key: Key) -> None:
        """Write the status soon, together with other changes until then."""
        delay = self._settings.status_delay(self._stores.bindings_of.size(key))
        self.controller.queue.add_after(key, delay)

    def _on_placement(self, change: Change) -> None:
        if asked(change.old) != asked(change.new):
            self.look_soon(change.key)

    def _on_owned(self, change: Change) -> None:
        body = change.new or change.old
        key = placement_of(body) if body else None
        if key is not None:
            self.look_soon(key)

    async def _reconcile(self, key: Key) -> timedelta | None:
        body = self._stores.placements.get(key)
        if body is None or is_going(body):
            self._metrics.forget(key)
            if self._copies is not None:
                await self._copies.remove(key[1])
            return None
        verdict = self._verdict(body)
        if verdict is None:  # This runs again as soon as the verdict is known.
            return None
        view = self._view(key, Placement.from_wire(body), verdict)
        status = placement_status.status(view)
        refused = None
        if self._copies is not None and status_copies.is_wanted(view.placement):
            refused = await self._copies.keep(body, view.placement, status)
            status = status_copies.with_outcome(view.placement, status, refused, now=view.now)
        if status != view.placement.status:
            await self._write(key, status)
            await self._announce(view, status)
        reported = view.placement.model_copy(update={"status": status})
        self._metrics.note(key, reported, scope=view.scope)
        return REFUSAL_RECHECK if refused else None

    async def _announce(self, view: View, status: PlacementStatus) -> None:
        metadata, kind = view.placement.metadata, view.scope.placement
        about = EventSubject(kind, metadata.namespace, metadata.name, metadata.uid)
        happened = placement_progress.happened(
            view.placement, status, scope=view.scope, now=view.now
        )
        for event in happened:
            await record(self._hub, events.body(event, about))

    def _view(self, key: Key, placement: Placement, verdict: SelectorVerdict) -> View:
        policies = [PolicySnapshot.from_wire(each) for each in self._stores.policies_of.of(key)]
        snapshots = self._stores.snapshots_of.of(key)
        return View(
            scope=self._stores.scope,
            placement=placement,
            now=datetime.now(UTC),
            selection_error=verdict.error,
            policy=policy_snapshots.latest_of(policies),
            bindings=self._stores.parsed_bindings_of(key),
            contents=_contents(snapshots),
            indexes={each["metadata"]["name"]: index_of(each) for each in snapshots},
        )

    async def _write(self, key: Key, status: PlacementStatus) -> None:
        namespace, name = key
        # A merge patch keeps fields that it does not name.
        nothing: Json = dict.fromkeys(
            ("selectedResources", "observedResourceIndex", "placementStatuses")
        )
        patch = {"status": nothing | status.to_wire()}
        try:
            written = await self._hub.patch(
                self._stores.scope.placement,
                name,
                patch,
                namespace=namespace,
                subresource="status",
            )
        except NotFound:
            return
        self._stores.placements.wrote(written)


def _contents(snapshots: list[Json]) -> dict[str, list[Json]]:
    """Return the selected objects by index, oldest first, those of the master snapshot first."""
    ordered = sorted(snapshots, key=lambda each: (number_of(each), not is_master(each)))
    contents: dict[str, list[Json]] = {}
    for each in ordered:
        contents.setdefault(index_of(each), []).extend(each["spec"]["selectedResources"])
    return contents
