"""Keeps snapshots of overrides, so that each rollout uses those that it was planned with.

contract: placement 9 (validation, snapshots)
"""

import logging
from collections.abc import Collection
from datetime import timedelta
from functools import partial

from api import names
from api.kinds import SCOPES
from api.overrides import ClusterResourceOverride, ResourceOverride
from api.runs import UpdateRun
from hub import AlreadyExists, Change, Controller, Hub, Json, Key, NotFound, key_of
from placement.metadata import (
    asked,
    drop_finalizers,
    is_going,
    lacks,
    owner_reference,
    with_finalizers,
)
from placement.object_events import write_event
from placement.parallel import all_of
from placement.stores import OverrideStores, Stores, override_of
from planning.overrides import snapshotting, validation
from planning.overrides.snapshotting import SnapshotPlan
from planning.runs import usage

logger = logging.getLogger(__name__)

FINALIZERS = (names.OVERRIDE_FINALIZER,)

INVALID = "InvalidOverride"
"""Reason of the event that says what is wrong with an override."""

SECOND_LOOK_AFTER = timedelta(seconds=1)
"""When to try again after another process has just created the same snapshot."""


class OverrideSnapshots:
    """Keeps the snapshots of one kind of override."""

    def __init__(self, hub: Hub, stores: Stores, own: OverrideStores) -> None:
        self._hub = hub
        self._stores = stores
        self._own = own
        self.controller = Controller(f"snapshots of {own.overrides.kind}", self._reconcile)
        own.overrides.subscribe(self._on_override)
        own.snapshots.subscribe(self._on_snapshot)

    def _on_override(self, change: Change) -> None:
        if asked(change.old) != asked(change.new):
            self.controller.queue.add(change.key)

    def _on_snapshot(self, change: Change) -> None:
        body = change.new or change.old
        key = override_of(body) if body else None
        if key is not None:
            self.controller.queue.add(key)

    async def _reconcile(self, key: Key) -> timedelta | None:
        body = self._own.overrides.get(key)
        if body is None:
            return None
        if is_going(body):
            await self._end(key, body)
            return None
        if lacks(body, FINALIZERS):
            patch = with_finalizers(body, FINALIZERS)
            kind, (namespace, name) = self._own.overrides.kind, key
            body = await self._hub.patch(kind, name, patch, namespace=namespace)
            self._own.overrides.wrote(body)
        problems = validation.problems(_parsed(body))
        if problems:
            await self._refuse(key, body, problems)
            return None
        return await self._keep(key, body)

    async def _end(self, key: Key, body: Json) -> None:
        namespace, name = key
        labels = f"{names.PARENT_RESOURCE_OVERRIDE}={name}"
        await self._hub.delete_all(self._own.snapshots.kind, namespace=namespace, labels=labels)
        await drop_finalizers(self._hub, self._own.overrides.kind, body, FINALIZERS)

    async def _keep(self, key: Key, body: Json) -> timedelta | None:
        owner = owner_reference(self._own.overrides.kind, body)
        plan = snapshotting.plan(body, self._own.snapshots_of.of(key), owner=owner)
        try:
            await self._write(key[0], plan)
        except AlreadyExists:
            return SECOND_LOOK_AFTER
        await self._prune(key[0], plan.superfluous)
        return None

    async def _write(self, namespace: str, plan: SnapshotPlan) -> None:
        if plan.create is not None:
            written = await self._hub.create(self._own.snapshots.kind, plan.create)
            self._own.snapshots.wrote(written)
            logger.info("stored an override as snapshot %s", written["metadata"]["name"])
        if plan.promote:
            await self._mark(namespace, plan.promote, latest=True)
        for name in plan.demote:
            await self._mark(namespace, name, latest=False)

    async def _mark(self, namespace: str, name: str, *, latest: bool) -> None:
        patch = {"metadata": {"labels": {names.IS_LATEST_SNAPSHOT: str(latest).lower()}}}
        try:
            written = await self._hub.patch(
                self._own.snapshots.kind, name, patch, namespace=namespace
            )
        except NotFound:
            return
        self._own.snapshots.wrote(written)

    async def _prune(self, namespace: str, superfluous: Collection[str]) -> None:
        if not superfluous:
            return
        needed = await self._needed()
        gone = [name for name in superfluous if (namespace, name) not in needed]
        await all_of(map(partial(self._delete, namespace), gone))

    async def _needed(self) -> Collection[Key]:
        scopes = self._stores.scopes.values()
        bindings = [body for scope in scopes for body in scope.bindings.items()]
        lists = await all_of(self._hub.list(scope.run) for scope in SCOPES.values())
        runs = [UpdateRun.from_wire(body) for each in lists for body in each.items]
        return usage.override_snapshots(bindings, runs)

    async def _delete(self, namespace: str, name: str) -> None:
        try:
            await self._hub.delete(self._own.snapshots.kind, name, namespace=namespace)
        except NotFound:
            return

    async def _refuse(self, key: Key, body: Json, problems: Collection[str]) -> None:
        """Report in an event what is wrong; the last valid snapshot stays in force."""
        known = sorted(self._own.snapshots_of.of(key), key=snapshotting.index)
        name = known[-1]["metadata"]["name"] if known else ""
        until = f"until then {name} stays in force" if name else "until then it changes nothing"
        await write_event(
            self._hub,
            self._own.overrides.kind,
            body,
            reason=INVALID,
            message=f"ignored: {'; '.join(problems)}. Fix it; {until}",
            key=f"{INVALID} {body['metadata']['generation']}",
        )


def _parsed(body: Json) -> ClusterResourceOverride | ResourceOverride:
    if key_of(body)[0]:
        return ResourceOverride.from_wire(body)
    return ClusterResourceOverride.from_wire(body)
