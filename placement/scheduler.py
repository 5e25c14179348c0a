"""Follows each placement's policy: policy snapshots, decisions, bindings.

contract: placement 4, 6 (bindings), 11 (leaving)
"""

import contextlib
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from api import names
from api.bindings import Binding, BindingState
from api.members import MemberCluster
from api.placements import Placement
from api.policies import PolicySnapshot
from hub import AlreadyExists, Change, Controller, Hub, Json, Key, NotFound
from placement.metadata import (
    BINDING_FINALIZERS,
    is_going,
    lacks,
    owner_reference,
    with_finalizers,
)
from placement.parallel import all_of
from placement.removal import Removal
from placement.stores import ScopeStores, Store, placement_of
from planning.placements import policy_snapshots, scheduled_bindings
from planning.placements.eligibility import Candidate, candidate
from planning.placements.policy_snapshots import PolicyPlan
from planning.placements.scheduled_bindings import Change as BindingChange
from planning.placements.scheduled_bindings import Creation
from planning.placements.scheduling import Schedule, schedule

logger = logging.getLogger(__name__)

FINALIZERS = (names.PLACEMENT_FINALIZER, names.SCHEDULER_FINALIZER)


class Scheduler:
    """Keeps the bindings of one scope's placements as their policies want them."""

    def __init__(
        self,
        hub: Hub,
        stores: ScopeStores,
        members: Store,
        *,
        selectable: Callable[[Json], bool],
    ) -> None:
        self._hub = hub
        self._stores = stores
        self._members = members
        self._selectable = selectable
        self.controller = Controller(
            f"scheduling of {stores.scope.placement.kind}", self._reconcile, workers=2
        )
        stores.placements.subscribe(self._on_placement)
        stores.policies.subscribe(lambda change: self._on_owned(change, _asked))
        stores.bindings.subscribe(lambda change: self._on_owned(change, _bound_to))
        members.subscribe(self._on_member)

    def _on_placement(self, change: Change) -> None:
        if _asked(change.old) != _asked(change.new):
            self.controller.queue.add(change.key)

    def _on_owned(self, change: Change, decisive: Callable[[Json | None], object]) -> None:
        if decisive(change.old) == decisive(change.new):
            return
        for body in (change.old, change.new):
            key = placement_of(body) if body else None
            if key is not None:
                self.controller.queue.add(key)

    def _on_member(self, change: Change) -> None:
        now = datetime.now(UTC)
        if _facts(change.old, now) != _facts(change.new, now):
            for body in self._stores.placements.items():
                metadata = body["metadata"]
                self.controller.queue.add((metadata.get("namespace", ""), metadata["name"]))

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
        policy = await self._policy(key, placement, body)
        bindings = [Binding.from_wire(each) for each in self._stores.bindings_of.of(key)]
        held = scheduled_bindings.held(bindings, policy=policy.metadata.name)
        namespace = key[0]
        made = schedule(placement.spec.policy, self._fleet(), held=held, namespace=namespace)
        if made is None:
            logger.warning("the policy of placement %s needs what is not supported yet", key[1])
            return
        changes = scheduled_bindings.follow(
            made.picked,
            bindings,
            policy=policy.metadata.name,
            placement=key[1],
            placement_uid=placement.metadata.uid,
        )
        # Bindings first: a policy snapshot that is Scheduled says that they are there.
        await all_of(self._create(key, each) for each in changes.creations)
        await all_of(self._change(key, each) for each in changes.changes)
        await self._say(key, placement, policy, made)

    def _fleet(self) -> list[Candidate]:
        now = datetime.now(UTC)
        return [candidate(MemberCluster.from_wire(each), now=now) for each in self._members.items()]

    async def _policy(self, key: Key, placement: Placement, body: Json) -> PolicySnapshot:
        """The snapshot that has the placement's present policy, made if need be."""
        known = [PolicySnapshot.from_wire(each) for each in self._stores.policies_of.of(key)]
        owner = owner_reference(self._stores.scope.placement, body)
        plan = policy_snapshots.plan(known, placement, owner=owner)
        return PolicySnapshot.from_wire(await self._carry_out(key, plan))

    async def _carry_out(self, key: Key, plan: PolicyPlan) -> Json:
        """Write what the plan says; returns the latest snapshot."""
        policies, namespace = self._stores.policies, key[0]
        for name in plan.demote:
            patch = {"metadata": {"labels": {names.IS_LATEST_SNAPSHOT: "false"}}}
            await self._patch(policies, (namespace, name), patch)
        for name in plan.delete:
            with contextlib.suppress(NotFound):
                await self._hub.delete(policies.kind, name, namespace=namespace)
        latest = (namespace, plan.latest)
        if plan.create is not None:
            with contextlib.suppress(AlreadyExists):
                policies.wrote(await self._hub.create(policies.kind, plan.create))
        elif plan.patch is not None:
            await self._patch(policies, latest, plan.patch)
        known = policies.get(latest)
        return known or await self._hub.get(policies.kind, plan.latest, namespace=namespace)

    async def _create(self, key: Key, creation: Creation) -> None:
        metadata = {
            "name": creation.name,
            "labels": {names.PARENT_PLACEMENT: key[1]},
            "finalizers": list(BINDING_FINALIZERS),
        }
        if key[0]:
            metadata["namespace"] = key[0]
        bindings = self._stores.bindings
        # The name is the same at each try: it exists if the watch has not told of it yet.
        with contextlib.suppress(AlreadyExists):
            body = {"metadata": metadata, "spec": creation.spec}
            bindings.wrote(await self._hub.create(bindings.kind, body))

    async def _change(self, key: Key, change: BindingChange) -> None:
        with contextlib.suppress(NotFound):
            await self._patch(self._stores.bindings, (key[0], change.name), change.patch)

    async def _say(
        self, key: Key, placement: Placement, policy: PolicySnapshot, made: Schedule
    ) -> None:
        status = policy_snapshots.decided(
            policy,
            made,
            placement_generation=placement.metadata.generation,
            now=datetime.now(UTC),
        )
        if status.to_wire() != policy.status.to_wire():
            await self._patch(
                self._stores.policies,
                (key[0], policy.metadata.name),
                {"status": status.to_wire()},
                subresource="status",
            )

    async def _patch(self, store: Store, key: Key, patch: Json, *, subresource: str = "") -> Json:
        namespace, name = key
        body = await self._hub.patch(
            store.kind, name, patch, namespace=namespace, subresource=subresource
        )
        store.wrote(body)
        return body


def _asked(body: Json | None) -> tuple[object, ...] | None:
    """What decides about an object here; what it reports in its status does not."""
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
    """What scheduling wants to know of a binding; a run's writes are none of its business."""
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


def _facts(body: Json | None, now: datetime) -> Candidate | None:
    return None if body is None else candidate(MemberCluster.from_wire(body), now=now)
