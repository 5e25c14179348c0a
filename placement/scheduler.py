"""Carries out each placement's policy: policy snapshots, decisions, bindings.

contract: placement 4, 6 (bindings), 11 (leaving)
"""

import contextlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from api import names
from api.bindings import BindingState
from api.placements import Placement
from api.scheduling import PlacementPolicy
from hub import AlreadyExists, Change, Controller, Hub, Json, Key, NotFound
from placement.fleet import Fleet
from placement.metadata import BINDING_FINALIZERS, is_going, lacks, with_finalizers
from placement.parallel import all_of
from placement.policies import Policies
from placement.removal import Removal
from placement.settings import PlacementSettings
from placement.stores import ScopeStores, WriteThroughStore, placement_of
from planning.placements import policy_snapshots, scheduled_bindings
from planning.placements.eligibility import Candidate
from planning.placements.policy_snapshots import InForce
from planning.placements.scheduled_bindings import BindingChange, Changes, Creation
from planning.placements.scheduling import Schedule, matters, names_no_cluster, schedule

FINALIZERS = (names.PLACEMENT_FINALIZER, names.SCHEDULER_FINALIZER)


class Scheduler:
    """Keeps the bindings of one scope's placements in line with their policies."""

    def __init__(
        self,
        hub: Hub,
        stores: ScopeStores,
        fleet: Fleet,
        *,
        settings: PlacementSettings,
        selectable: Callable[[Json], bool],
    ) -> None:
        self._hub = hub
        self._stores = stores
        self._fleet = fleet
        self._policies = Policies(hub, stores)
        self._settings = settings
        self._selectable = selectable
        self._wishes: dict[Key, PlacementPolicy | None] = {}
        """The policy that each placement is scheduled by."""
        self._fulfilled: set[Key] = set()
        """Placements that had as many clusters as they want at the last reconciliation."""
        self.controller = Controller(
            f"scheduling of {stores.scope.placement.kind}", self._reconcile, workers=2
        )
        stores.placements.subscribe(self._on_placement)
        stores.policies.subscribe(lambda change: self._on_owned(change, _asked))
        stores.bindings.subscribe(lambda change: self._on_owned(change, _bound_to))
        fleet.subscribe(self._on_member)

    def _on_placement(self, change: Change) -> None:
        if _asked(change.old) == _asked(change.new):
            return
        self._fulfilled.discard(change.key)
        self._wishes.pop(change.key, None)
        if change.new is not None:
            self._wishes[change.key] = Placement.from_wire(change.new).spec.policy
        self.controller.queue.add(change.key)

    def _on_owned(self, change: Change, decisive: Callable[[Json | None], object]) -> None:
        if decisive(change.old) == decisive(change.new):
            return
        for body in (change.old, change.new):
            key = placement_of(body) if body else None
            if key is not None:
                self.controller.queue.add(key)

    def _on_member(self, old: Candidate | None, new: Candidate | None) -> None:
        for key, policy in self._wishes.items():
            if matters(policy, old, new, fulfilled=key in self._fulfilled):
                self.controller.queue.add_after(key, self._settings.member_debounce)

    async def _reconcile(self, key: Key) -> timedelta | None:
        body = self._stores.placements.get(key)
        if body is None:
            return None
        if is_going(body):
            await Removal(self._hub, self._stores, key, finalizers=FINALIZERS).go_on(body)
            return None
        if lacks(body, FINALIZERS):
            body = await self._patch(
                self._stores.placements, key, with_finalizers(body, FINALIZERS)
            )
        if self._selectable(body):
            await self._schedule(key, body)
        return None

    async def _schedule(self, key: Key, body: Json) -> None:
        placement = Placement.from_wire(body)
        asked = await self._policies.in_force(key, placement, body)
        if asked is None:
            return
        self._wishes[key] = asked.policy
        policy = asked.snapshot.metadata.name
        bindings = self._stores.parsed_bindings_of(key)
        if names_no_cluster(asked.policy):
            members = {each.name for each in self._fleet.members() if not each.leaving}
            await self._follow(key, scheduled_bindings.keep(bindings, fleet=members))
            return
        made = schedule(
            asked.policy,
            self._fleet.members(),
            held=scheduled_bindings.held(bindings, policy=policy),
            namespace=key[0],
        )
        changes = scheduled_bindings.follow(
            made.picked,
            bindings,
            policy=policy,
            placement=key[1],
            placement_uid=placement.metadata.uid,
        )
        # Bindings first: Scheduled on the policy snapshot implies that they exist.
        await self._follow(key, changes)
        await self._say(key, asked, made)
        if made.fulfilled:
            self._fulfilled.add(key)
        else:
            self._fulfilled.discard(key)

    async def _follow(self, key: Key, changes: Changes) -> None:
        await all_of(self._create(key, each) for each in changes.creations)
        await all_of(self._change(key, each) for each in changes.changes)

    async def _create(self, key: Key, creation: Creation) -> None:
        metadata = {
            "name": creation.name,
            "labels": {names.PARENT_PLACEMENT: key[1]},
            "finalizers": list(BINDING_FINALIZERS),
        }
        if key[0]:
            metadata["namespace"] = key[0]
        bindings = self._stores.bindings
        # The name is the same on each try: it may exist although the watch has not shown it yet.
        with contextlib.suppress(AlreadyExists):
            body = {"metadata": metadata, "spec": creation.spec}
            bindings.wrote(await self._hub.create(bindings.kind, body))

    async def _change(self, key: Key, change: BindingChange) -> None:
        with contextlib.suppress(NotFound):
            await self._patch(self._stores.bindings, (key[0], change.name), change.patch)

    async def _say(self, key: Key, asked: InForce, made: Schedule) -> None:
        status = policy_snapshots.decided(
            asked.snapshot,
            made,
            placement_generation=asked.generation,
            now=datetime.now(UTC),
        )
        if status.to_wire() != asked.snapshot.status.to_wire():
            await self._patch(
                self._stores.policies,
                (key[0], asked.snapshot.metadata.name),
                {"status": status.to_wire()},
                subresource="status",
            )

    async def _patch(
        self, store: WriteThroughStore, key: Key, patch: Json, *, subresource: str = ""
    ) -> Json:
        namespace, name = key
        body = await self._hub.patch(
            store.kind, name, patch, namespace=namespace, subresource=subresource
        )
        store.wrote(body)
        return body


def _asked(body: Json | None) -> tuple[object, ...] | None:
    """Return the parts of an object that matter to scheduling, which excludes its status."""
    if body is None:
        return None
    metadata = body["metadata"]
    return (
        metadata["uid"],
        metadata["generation"],
        metadata.get("labels"),
        metadata.get("finalizers"),
        is_going(body),
    )


def _bound_to(body: Json | None) -> tuple[object, ...] | None:
    """Return the parts of a binding that matter to scheduling, which excludes what runs write."""
    if body is None:
        return None
    spec, metadata = body["spec"], body["metadata"]
    return (
        metadata["uid"],
        spec["targetCluster"],
        spec["schedulingPolicySnapshotName"],
        spec["state"] == BindingState.UNSCHEDULED,
        is_going(body),
    )
