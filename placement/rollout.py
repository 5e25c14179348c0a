"""Rolls out placements of type RollingUpdate, as far as their strategy allows.

contract: placement 2.3 (RollingUpdate), 9 (overrides), 12
"""

import contextlib
import logging
from datetime import UTC, datetime, timedelta

from api.applying import ApplyStrategy
from api.bindings import Binding, BindingState
from api.rollouts import RolloutStrategy, RolloutStrategyType
from hub import Change, Controller, Hub, Json, Key, NotFound, key_of, labels_of
from placement.metadata import asked, is_going
from placement.object_events import write_event
from placement.overrides import LatestOverrides
from placement.parallel import all_of
from placement.settings import ROLLOUT_MANAGER, PlacementSettings
from placement.stores import ScopeStores, Stores, placement_of
from planning.bindings import Desired
from planning.overrides.matching import ClusterOverrides, UnreadableError
from planning.placements import rolling, snapshotting
from planning.placements.rolling import RollingLimits, Write
from planning.placements.snapshotting import Revision

logger = logging.getLogger(__name__)

HELD_UP = "RolloutHeldUp"
"""Reason of the event that says why a rollout is on hold."""


class Roller:
    """Rolls out the latest snapshot of one scope's placements of type RollingUpdate."""

    def __init__(
        self, hub: Hub, stores: Stores, own: ScopeStores, *, settings: PlacementSettings
    ) -> None:
        self._hub = hub
        self._own = own
        self._overrides = LatestOverrides(stores)
        self._settings = settings
        self.controller = Controller(
            f"rollout of {own.scope.placement.kind}", self._reconcile, workers=2
        )
        own.placements.subscribe(self._on_placement)
        own.bindings.subscribe(self._on_owned)
        own.snapshots.subscribe(self._on_owned)
        self._overrides.on_change(self._on_override)
        stores.members.subscribe(self._on_member)

    def _look_soon(self, key: Key | None) -> None:
        body = self._own.placements.get(key) if key else None
        if key is None or body is None or strategy_of(body) is None:
            return
        delay = self._settings.status_delay(self._own.bindings_of.size(key))
        self.controller.queue.add_after(key, delay)

    def _on_placement(self, change: Change) -> None:
        if change.new is not None and asked(change.old) != asked(change.new):
            self.controller.queue.add(change.key)

    def _on_owned(self, change: Change) -> None:
        body = change.new or change.old
        self._look_soon(placement_of(body) if body else None)

    def _on_override(self) -> None:
        # Any override may apply to any placement, and there are few of both.
        for body in self._own.placements.items():
            self._look_soon(key_of(body))

    def _on_member(self, change: Change) -> None:
        if labels_of(change.old) != labels_of(change.new):
            for body in self._own.bindings_on.of(change.key[1]):
                self._look_soon(placement_of(body))

    async def _reconcile(self, key: Key) -> timedelta | None:
        body = self._own.placements.get(key)
        if body is None or is_going(body):
            return None
        strategy, revision = strategy_of(body), self._latest(key)
        if strategy is None or revision is None:
            return None
        bindings = self._own.parsed_bindings_of(key)
        try:
            desired = self._desired(key, revision, strategy, bindings)
        except UnreadableError as error:
            await self._hold_up(key, body, error)
            return None
        limits, now = RollingLimits.of(strategy.rolling_update), datetime.now(UTC)
        steps = rolling.plan(bindings, desired, limits=limits, now=now)
        await all_of(self._write(key, each) for each in steps.writes)
        await all_of(self._delete(key, each) for each in steps.deletions)
        return steps.again

    async def _hold_up(self, key: Key, body: Json, error: UnreadableError) -> None:
        """Report in an event why nothing is rolled out; a fix triggers another reconciliation."""
        kind = self._own.scope.placement
        logger.warning("%s %s: rollout is on hold: %s", kind, key[1], error.words)
        message = f"the rollout is on hold until this is fixed: {error.words}"
        await write_event(self._hub, kind, body, reason=HELD_UP, message=message, key=error.words)

    def _latest(self, key: Key) -> Revision | None:
        """Return the latest revision if it is complete."""
        known = snapshotting.revisions(self._own.snapshots_of.of(key))
        latest = snapshotting.current(known)
        return latest if latest and len(latest.objects) == latest.size else None

    def _desired(
        self,
        key: Key,
        revision: Revision,
        strategy: RolloutStrategy,
        bindings: list[Binding],
    ) -> dict[str, Desired]:
        clusters = [
            each.spec.target_cluster
            for each in bindings
            if each.spec.state != BindingState.UNSCHEDULED
        ]
        overrides = self._overrides.on_clusters(
            clusters, key, content=lambda: self._resources(key, revision)
        )
        nothing = ClusterOverrides(cluster="")
        return {
            cluster: Desired(
                snapshot=snapshotting.master_name(key[1], revision.index),
                apply_strategy=strategy.apply_strategy or ApplyStrategy(),
                cluster_resource_overrides=overrides.get(cluster, nothing).cluster_resource,
                resource_overrides=overrides.get(cluster, nothing).resource,
            )
            for cluster in clusters
        }

    def _resources(self, key: Key, revision: Revision) -> list[Json]:
        return [
            resource
            for each in self._own.snapshots_of.of(key)
            if each["metadata"]["name"] in revision.objects
            for resource in each["spec"]["selectedResources"]
        ]

    async def _write(self, key: Key, write: Write) -> None:
        metadata = {"name": write.name} | ({"namespace": key[0]} if key[0] else {})
        status = {"conditions": [write.condition.to_wire()]}
        kind, bindings = self._own.scope.binding, self._own.bindings
        with contextlib.suppress(NotFound):
            written = await self._hub.apply(
                kind,
                {"metadata": metadata, "status": status},
                subresource="status",
                manager=ROLLOUT_MANAGER,
            )
            if write.patch:
                written = await self._hub.patch(kind, write.name, write.patch, namespace=key[0])
            bindings.wrote(written)

    async def _delete(self, key: Key, name: str) -> None:
        with contextlib.suppress(NotFound):
            await self._hub.delete(self._own.scope.binding, name, namespace=key[0])


def strategy_of(placement: Json) -> RolloutStrategy | None:
    """Return the strategy of a placement that is rolled out here; None if runs do it."""
    wire = placement["spec"].get("strategy", {})
    if wire.get("type") == RolloutStrategyType.EXTERNAL:
        return None
    return RolloutStrategy.from_wire(wire)
