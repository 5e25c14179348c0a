"""Writes a placement's content to the hub as resource snapshots.

contract: placement 5, update-runs 7.7
"""

import asyncio
import contextlib
import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from api import names
from api.kinds import Scope
from api.placements import Placement
from api.runs import UpdateRun
from hub import AlreadyExists, Conflict, Hub, Json, Key, NotFound
from placement.metadata import owner_reference
from placement.selection import ReadRecord, SelectionRead, Watched, not_watched
from planning import hashing
from planning.placements import snapshotting
from planning.placements.selecting import SelectionRules
from planning.placements.snapshotting import Revision
from planning.runs import usage

logger = logging.getLogger(__name__)

ATTEMPTS = 5
"""Two concurrent writers (a run and a change of content) collide at the new index; the second one
retries and finds the content stored."""


@dataclass(frozen=True, slots=True)
class SnapshotTaken:
    """Where the content of a placement is stored."""

    index: int
    name: str
    """Name of the master snapshot."""
    created: bool
    """Whether it is new; otherwise the latest snapshot had the same content."""


async def take_snapshot(
    hub: Hub, *, scope: Scope, namespace: str, placement: str, rules: SelectionRules
) -> SnapshotTaken:
    """Store the placement's current content, unless the latest snapshot already holds it.

    Raises SelectionError if the user has to change the placement's selectors, with a text that
    starts as in the contract (update-runs 7.7), and NotFound if the placement does not exist.
    """
    body = await hub.get(scope.placement, placement, namespace=namespace)
    return await store_selection(hub, scope=scope, placement=body, rules=rules, sight=ReadRecord())


async def would_take(
    hub: Hub, *, scope: Scope, namespace: str, placement: str, rules: SelectionRules
) -> tuple[SnapshotTaken, list[Json]]:
    """Return where and what `take_snapshot` would store now, without writing anything.

    Raises as `take_snapshot` does.
    """
    body = await hub.get(scope.placement, placement, namespace=namespace)
    resources = await SelectionRead(hub, Placement.from_wire(body), rules=rules).resources()
    return await _Writer(hub, resources, scope=scope, placement=body).preview(), resources


async def store_selection(
    hub: Hub,
    *,
    scope: Scope,
    placement: Json,
    rules: SelectionRules,
    sight: ReadRecord,
    watched: Watched = not_watched,
) -> SnapshotTaken:
    """Do the same as `take_snapshot`, for a placement that has already been read.

    `sight` records what is read, also if SelectionError is raised. Objects that `watched` returns
    are not read from the hub.
    """
    parsed = Placement.from_wire(placement)
    selection = SelectionRead(hub, parsed, rules=rules, sight=sight, watched=watched)
    for _ in range(ATTEMPTS - 1):
        try:
            return await _store_once(selection, hub, scope, placement)
        except (AlreadyExists, Conflict):
            logger.debug("another snapshot was written in the meantime, selecting again")
    return await _store_once(selection, hub, scope, placement)


async def _store_once(
    selection: SelectionRead, hub: Hub, scope: Scope, placement: Json
) -> SnapshotTaken:
    resources = await selection.resources()
    return await _Writer(hub, resources, scope=scope, placement=placement).store()


class _Writer:
    """Stores the selected content of one placement."""

    def __init__(self, hub: Hub, resources: list[Json], *, scope: Scope, placement: Json) -> None:
        self._hub = hub
        self._resources = resources
        self._scope = scope
        self._kind = scope.resource_snapshot
        self._owner = owner_reference(scope.placement, placement)
        self._name: str = placement["metadata"]["name"]
        self._namespace: str = placement["metadata"].get("namespace", "")
        self._limit = Placement.from_wire(placement).spec.revision_history_limit

    async def preview(self) -> SnapshotTaken:
        known = snapshotting.revisions(await self._snapshots())
        if stored := self._stored(known):
            return self._taken(stored.index, created=False)
        return self._taken(snapshotting.next_index(known), created=True)

    def _stored(self, known: list[Revision]) -> Revision | None:
        """Return the latest revision if it has the same content."""
        latest = snapshotting.current(known)
        same = latest is not None and latest.hash == hashing.resources_hash(self._resources)
        return latest if same else None

    async def store(self) -> SnapshotTaken:
        known = snapshotting.revisions(await self._snapshots())
        if latest := self._stored(known):
            await self._complete(latest)
            return self._taken(latest.index, created=False)
        await self._demote(known)
        await self._prune(known)
        index = snapshotting.next_index(known)
        for body in self._bodies(index):
            await self._hub.create(self._kind, body)
        logger.info("stored content as snapshot %s", snapshotting.master_name(self._name, index))
        return self._taken(index, created=True)

    async def _snapshots(self) -> list[Json]:
        labels = f"{names.PARENT_PLACEMENT}={self._name}"
        listing = await self._hub.list(
            self._kind, namespace=self._namespace, labels=labels, metadata_only=True
        )
        return listing.items

    def _taken(self, index: int, *, created: bool) -> SnapshotTaken:
        return SnapshotTaken(index, snapshotting.master_name(self._name, index), created)

    def _bodies(self, index: int) -> list[Json]:
        return snapshotting.bodies(
            self._resources,
            placement=self._name,
            namespace=self._namespace,
            owner=self._owner,
            index=index,
        )

    async def _complete(self, revision: Revision) -> None:
        """Create the objects that an interrupted writer has not created."""
        if len(revision.objects) < revision.size:
            for body in self._bodies(revision.index):
                if body["metadata"]["name"] not in revision.objects:
                    await self._hub.create(self._kind, body)
        if not revision.latest:
            await self._mark(revision, latest=True)

    async def _demote(self, known: list[Revision]) -> None:
        """Remove the latest mark before the new snapshot gets it: at most one may have it."""
        for revision in known:
            if revision.latest:
                with contextlib.suppress(NotFound):
                    await self._mark(revision, latest=False)

    async def _mark(self, revision: Revision, *, latest: bool) -> None:
        name = snapshotting.master_name(self._name, revision.index)
        labels = {names.IS_LATEST_SNAPSHOT: str(latest).lower()}
        patch = {"metadata": {"labels": labels}}
        await self._hub.patch(self._kind, name, patch, namespace=self._namespace)

    async def _prune(self, known: list[Revision]) -> None:
        """Make room for one more revision; those in use stay (decision record 0011)."""
        superfluous = snapshotting.superfluous(known, keep=self._limit - 1)
        if superfluous:
            key = (self._namespace, self._name)
            users = await Users.ask(self._hub, self._scope, key)
            needed = users.needed()
            await delete_revisions(self._hub, self._scope, key, superfluous, but=needed)


@dataclass(frozen=True, slots=True)
class Users:
    """Possible users of a placement's snapshots, as read from the API server."""

    bindings: list[Json]
    runs: list[Json]
    placement: Key

    @classmethod
    async def ask(cls, hub: Hub, scope: Scope, placement: Key) -> "Users":
        """List them on the hub: a user that is not in a cache yet may need a snapshot, too."""
        namespace, name = placement
        labels = f"{names.PARENT_PLACEMENT}={name}"
        bindings, runs = await asyncio.gather(
            hub.list(scope.binding, namespace=namespace, labels=labels),
            hub.list(scope.run, namespace=namespace),
        )
        own = [each for each in runs.items if each["spec"]["placementName"] == name]
        return cls(bindings.items, own, placement)

    def needed(self) -> frozenset[str]:
        """Return the names of content and policy snapshots in use (decision record 0011)."""
        bound = usage.resource_snapshots(self.bindings, (), placement=self.placement[1])
        return bound.union(*map(needs_of, self.runs))


def needs_of(run: Json) -> frozenset[str]:
    """Return the names of content and policy snapshots that a run needs; none once it is over."""
    # The stages are by far the largest part of a run, and not needed here.
    status = {
        name: value for name, value in run.get("status", {}).items() if name != "stagesStatus"
    }
    parsed = UpdateRun.from_wire(run | {"status": status})
    placement = parsed.spec.placement_name
    content = usage.resource_snapshots((), [parsed], placement=placement)
    return content | usage.policy_snapshots([parsed], placement=placement)


async def delete_revisions(
    hub: Hub, scope: Scope, placement: Key, revisions: Iterable[Revision], *, but: Collection[str]
) -> None:
    """Delete whole revisions, except those whose master's name is in `but`."""
    namespace, name = placement
    for revision in revisions:
        if snapshotting.master_name(name, revision.index) not in but:
            for each in sorted(revision.objects):
                with contextlib.suppress(NotFound):
                    await hub.delete(scope.resource_snapshot, each, namespace=namespace)
