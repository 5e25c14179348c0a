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
from placement.selection import Selection, Sight, Watched, not_watched
from planning import hashing
from planning.placements import snapshotting, usage
from planning.placements.selecting import SelectionRules
from planning.placements.snapshotting import Revision

logger = logging.getLogger(__name__)

ATTEMPTS = 5
"""Two writers at once (a run and a change of content) meet at the new index; the one that comes
second looks again and finds the content stored."""


@dataclass(frozen=True, slots=True)
class SnapshotTaken:
    """Where the content of a placement is stored."""

    index: int
    name: str
    """Name of the master snapshot."""
    created: bool
    """Whether it was new; otherwise the latest had the same content."""


async def take_snapshot(
    hub: Hub, *, scope: Scope, namespace: str, placement: str, rules: SelectionRules
) -> SnapshotTaken:
    """Select what the placement selects now, and store it unless the latest snapshot has it.

    Raises SelectionError when the user has to change the placement's selectors; its text begins
    as the contract has it (update-runs 7.7). Raises NotFound without the placement.
    """
    body = await hub.get(scope.placement, placement, namespace=namespace)
    return await store_selection(hub, scope=scope, placement=body, rules=rules, sight=Sight())


async def would_take(
    hub: Hub, *, scope: Scope, namespace: str, placement: str, rules: SelectionRules
) -> tuple[SnapshotTaken, list[Json]]:
    """What `take_snapshot` would store now, and where, without writing anything.

    Raises as `take_snapshot` does.
    """
    body = await hub.get(scope.placement, placement, namespace=namespace)
    resources = await Selection(hub, Placement.from_wire(body), rules=rules).resources()
    return await _Writer(hub, resources, scope=scope, placement=body).preview(), resources


async def store_selection(
    hub: Hub,
    *,
    scope: Scope,
    placement: Json,
    rules: SelectionRules,
    sight: Sight,
    watched: Watched = not_watched,
) -> SnapshotTaken:
    """Like `take_snapshot`, of a placement as it was read; `sight` is filled by the look.

    Also where SelectionError is raised. What is `watched` is not asked for again.
    """
    parsed = Placement.from_wire(placement)
    selection = Selection(hub, parsed, rules=rules, sight=sight, watched=watched)
    for _ in range(ATTEMPTS - 1):
        try:
            return await _store_once(selection, hub, scope, placement)
        except (AlreadyExists, Conflict):
            logger.debug("another snapshot was written meanwhile, selecting again")
    return await _store_once(selection, hub, scope, placement)


async def _store_once(
    selection: Selection, hub: Hub, scope: Scope, placement: Json
) -> SnapshotTaken:
    resources = await selection.resources()
    return await _Writer(hub, resources, scope=scope, placement=placement).store()


class _Writer:
    """Stores one content of one placement."""

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
        """The latest version, if it has the content."""
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
        logger.info("stored the content as %s", snapshotting.master_name(self._name, index))
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
        """Finish what a writer that died half way has left out."""
        if len(revision.objects) < revision.size:
            for body in self._bodies(revision.index):
                if body["metadata"]["name"] not in revision.objects:
                    await self._hub.create(self._kind, body)
        if not revision.latest:
            await self._mark(revision, latest=True)

    async def _demote(self, known: list[Revision]) -> None:
        """At most one snapshot is the latest: take the mark away before the new one has it."""
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
        """Make room for one more; what is needed stays (decision record 0011)."""
        superfluous = snapshotting.superfluous(known, keep=self._limit - 1)
        if superfluous:
            key = (self._namespace, self._name)
            users = await Users.ask(self._hub, self._scope, key)
            needed = users.needed()
            await delete_revisions(self._hub, self._scope, key, superfluous, but=needed)


@dataclass(frozen=True, slots=True)
class Users:
    """Who may need snapshots of a placement, as the API server has them now."""

    bindings: list[Json]
    runs: list[Json]
    placement: Key

    @classmethod
    async def ask(cls, hub: Hub, scope: Scope, placement: Key) -> "Users":
        """List them afresh: who is not in a cache yet may need a snapshot as well."""
        namespace, name = placement
        labels = f"{names.PARENT_PLACEMENT}={name}"
        bindings, runs = await asyncio.gather(
            hub.list(scope.binding, namespace=namespace, labels=labels),
            hub.list(scope.run, namespace=namespace),
        )
        own = [each for each in runs.items if each["spec"]["placementName"] == name]
        return cls(bindings.items, own, placement)

    def needed(self) -> frozenset[str]:
        """Names of snapshots of content and policy that have to stay (decision record 0011)."""
        bound = usage.resource_snapshots(self.bindings, (), placement=self.placement[1])
        return bound.union(*map(needs_of, self.runs))


def needs_of(run: Json) -> frozenset[str]:
    """Names of the snapshots of content and policy that a run needs; none once it is over."""
    # Its stages are by far the largest part of a run, and of no interest here.
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
