"""Writes each binding's content to its member's namespace as Works, and reports the outcome.

contract: placement 6 (conditions), 8 (Works)
"""

import asyncio
import contextlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from api import names
from api.bindings import Binding, BindingState
from api.kinds import WORK
from api.rollouts import RolloutStrategy
from hub import (
    PASSING,
    Change,
    Controller,
    Hub,
    HubError,
    Json,
    Key,
    NotFound,
    key_of,
    labels_of,
)
from placement.metadata import (
    BINDING_FINALIZERS,
    is_going,
    lacks,
    with_finalizers,
)
from placement.overrides import BindingOverrides
from placement.parallel import all_of
from placement.settings import MANAGER, REFUSAL_RECHECK, PlacementSettings
from placement.stores import ScopeStores, Stores, binding_of, parent_of, placement_of
from placement.withdrawal import Withdrawal, delete_work
from planning.envelopes import EnvelopeError
from planning.overrides.rendering import OverrideError
from planning.placements import binding_status, rendering
from planning.placements.binding_status import BindingReport
from planning.placements.binding_steps import IN_PROGRESS_FOR, DistributionOutcome, WorkReport
from planning.placements.rendering import BindingOwner, MissingSnapshotError, WorkChanges


class TakenError(Exception):
    """Another placement has a Work of the same name; a user has to rename one of the placements."""


class Distributor:
    """Keeps the Works of one scope's bindings up to date."""

    def __init__(
        self, hub: Hub, stores: Stores, own: ScopeStores, *, settings: PlacementSettings
    ) -> None:
        self._hub = hub
        self._scope = own.scope
        self._own = own
        self._stores = stores
        self._settings = settings
        self._withdrawal = Withdrawal(hub, stores, own.scope)
        self._overrides = BindingOverrides(stores)
        self._overridden_in_vain: set[Key] = set()
        """Bindings whose overrides could not be applied; a new override snapshot may fix that."""
        self._begun: dict[Key, tuple[int, float]] = {}
        """When distribution began, by binding: its generation, and the loop's time."""
        self.controller = Controller(
            f"distribution of {own.scope.binding.kind}",
            self._reconcile,
            workers=settings.workers,
        )
        own.bindings.subscribe(lambda change: self.controller.queue.add(change.key))
        own.snapshots.subscribe(self._on_snapshot)
        self._overrides.on_new(self._on_new_override)
        stores.works.subscribe(self._on_work)
        stores.members.subscribe(self._on_member)
        stores.member_namespaces.subscribe(self._on_namespace)

    def _on_work(self, change: Change) -> None:
        for body in (change.old, change.new):
            owner = binding_of(body) if body else None
            if owner is not None and owner[0] == self._scope.name:
                self.controller.queue.add(owner[1])

    def _on_snapshot(self, change: Change) -> None:
        """Queue the bindings that may be waiting for a new snapshot."""
        if change.old is not None or change.new is None:
            return
        for body in self._own.bindings_of.of(placement_of(change.new)):
            if body["spec"]["resourceSnapshotName"] == change.key[1]:
                self.controller.queue.add(key_of(body))

    def _on_new_override(self) -> None:
        for key in self._overridden_in_vain:
            self.controller.queue.add(key)

    def _on_member(self, change: Change) -> None:
        # An override may have failed because of a missing label.
        if labels_of(change.old) != labels_of(change.new):
            self._add_all_on(change.key[1])

    def _on_namespace(self, change: Change) -> None:
        if change.old is None or change.new is None:
            self._add_all_on(change.key[1].removeprefix(names.MEMBER_NAMESPACE_PREFIX))

    def _add_all_on(self, cluster: str) -> None:
        for body in self._own.bindings_on.of(cluster):
            self.controller.queue.add(key_of(body))

    async def _reconcile(self, key: Key) -> timedelta | None:
        body = self._own.bindings.get(key)
        if body is None or is_going(body):
            self._begun.pop(key, None)
            self._overridden_in_vain.discard(key)
            await self._withdrawal.go_on(key, body)
            return None
        if not self._is_due(body):
            return None
        if lacks(body, BINDING_FINALIZERS):
            namespace, name = key
            patch = with_finalizers(body, BINDING_FINALIZERS)
            body = await self._hub.patch(self._scope.binding, name, patch, namespace=namespace)
            self._own.bindings.wrote(body)
        return await self._keep(key, body)

    def _is_due(self, body: Json) -> bool:
        """Return whether content may be distributed: a run announces changes first.

        decision record 0039
        """
        spec = body["spec"]
        if spec["state"] == BindingState.SCHEDULED or not spec["resourceSnapshotName"]:
            return False
        if spec["state"] == BindingState.UNSCHEDULED:
            return True
        known = self._stores.members.get(("", spec["targetCluster"])) is not None
        return known and binding_status.is_announced(self._own.parsed_bindings.of(body))

    async def _keep(self, key: Key, body: Json) -> timedelta | None:
        binding = self._own.parsed_bindings.of(body)
        outcome = await self._distribute(key, body, binding)
        if outcome is None:
            return None
        report = binding_status.report(binding, outcome, now=datetime.now(UTC))
        again = await self._say(key, binding, report)
        if outcome.sync_error and binding.spec.state == BindingState.BOUND:
            return REFUSAL_RECHECK
        return again

    async def _distribute(
        self, key: Key, body: Json, binding: Binding
    ) -> DistributionOutcome | None:
        """Write Works that are out of date; return None if there is nothing to report yet."""
        works = self._stores.works_for(self._scope.name, body)
        if binding.spec.state == BindingState.UNSCHEDULED and not works:
            return self._given_up(binding)
        try:
            changes = self._changes(key, binding, works)
            await self._write(changes, binding)
            self._overridden_in_vain.discard(key)
        except OverrideError as error:
            self._overridden_in_vain.add(key)
            return DistributionOutcome(override_error=str(error))
        except (MissingSnapshotError, EnvelopeError, TakenError) as error:
            return DistributionOutcome(sync_error=str(error))
        except PASSING:
            raise  # Retried without reporting it in the binding's status.
        except HubError as error:
            return DistributionOutcome(sync_error=str(error))
        works = self._stores.works_for(self._scope.name, body)
        by_name = {each["metadata"]["name"]: each for each in works}
        if any(name not in by_name or is_going(by_name[name]) for name in changes.names):
            return None  # It is created again once it is gone.
        return DistributionOutcome(works=[WorkReport.read(by_name[name]) for name in changes.names])

    def _given_up(self, binding: Binding) -> DistributionOutcome | None:
        """Return the outcome of an unscheduled binding without Works, which gets no new ones."""
        namespace = names.member_namespace(binding.spec.target_cluster)
        if self._stores.member_namespaces.get(("", namespace)) is not None:
            return None
        return DistributionOutcome(sync_error=f'namespaces "{namespace}" not found')

    def _changes(self, key: Key, binding: Binding, works: Sequence[Json]) -> WorkChanges:
        owner = (key[0], binding.metadata.labels.get(names.PARENT_PLACEMENT, ""))
        placement = self._own.placements.get(owner) or {"spec": {}}
        # Parse only this part: the status of a placement grows with the fleet.
        strategy = RolloutStrategy.from_wire(placement["spec"].get("strategy", {}))
        report_back = strategy.report_back_strategy
        source = BindingOwner(name=owner[1], namespace=owner[0], report_back=report_back)
        snapshots = self._own.snapshots_of.of(owner)
        return rendering.changes(
            binding,
            source,
            snapshots=snapshots,
            works=works,
            override=partial(self._overrides.apply, binding),
            served=self._hub.known_kind,
        )

    async def _write(self, changes: WorkChanges, binding: Binding) -> None:
        for each in changes.writes:
            self._check_owner(each)
        await all_of(self._apply(each) for each in changes.writes)
        namespace = names.member_namespace(binding.spec.target_cluster)
        await all_of(self._mark(namespace, *each) for each in changes.marks.items())
        await all_of(delete_work(self._hub, (namespace, name)) for name in changes.deletions)

    def _check_owner(self, body: Json) -> None:
        """Raise TakenError if a Work of this name belongs to another placement."""
        found = self._stores.works.get(key_of(body))
        ours, theirs = parent_of(body), parent_of(found) if found else None
        if theirs is None or theirs == ours:
            return
        scope, placement = theirs
        if self._stores.scopes[scope].placements.get(placement) is None:
            return
        namespace, name = key_of(body)
        kind = self._stores.scopes[scope].scope.placement.kind
        raise TakenError(
            f"Work {namespace}/{name} belongs to {kind} {'/'.join(filter(None, placement))}, whose "
            "Works have the same names: give one of the two placements another name"
        )

    async def _apply(self, body: Json) -> None:
        self._stores.works.wrote(await self._hub.apply(WORK, body, manager=MANAGER))

    async def _mark(self, namespace: str, name: str, annotations: Json) -> None:
        patch = {"metadata": {"annotations": annotations}}
        with contextlib.suppress(NotFound):
            self._stores.works.wrote(await self._hub.patch(WORK, name, patch, namespace=namespace))

    async def _say(self, key: Key, binding: Binding, report: BindingReport) -> timedelta | None:
        """Write the report if it has changed; return when it may change without an event."""
        if not report.says(binding):
            grace = self._grace_left(key, binding, report)
            if grace:
                return grace
            await self._write_status(binding, report)
        self._begun.pop(key, None)
        return IN_PROGRESS_FOR if report.waiting else None

    def _grace_left(self, key: Key, binding: Binding, report: BindingReport) -> timedelta | None:
        """Return how long to wait for the member, so that a fast one costs only one write."""
        if not report.pending or binding_status.is_reported(binding):
            return None
        now = asyncio.get_running_loop().time()
        generation, since = self._begun.get(key, (0, 0.0))
        if generation != binding.metadata.generation:
            since = now
            self._begun[key] = (binding.metadata.generation, now)
        left = self._settings.report_grace - timedelta(seconds=now - since)
        return left if left > timedelta(0) else None

    async def _write_status(self, binding: Binding, report: BindingReport) -> None:
        """Apply this component's conditions; RolloutStarted belongs to runs and is left alone."""
        metadata = {"name": binding.metadata.name, "uid": binding.metadata.uid}
        if binding.metadata.namespace:
            metadata["namespace"] = binding.metadata.namespace
        body = {"metadata": metadata, "status": report.to_wire()}
        with contextlib.suppress(NotFound):
            written = await self._hub.apply(
                self._scope.binding, body, subresource="status", manager=MANAGER
            )
            self._own.bindings.wrote(written)
