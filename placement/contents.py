"""Stores each placement's content as it changes, and checks whether it can be selected.

contract: placement 2.1 (errors), 5; decision 1
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from api.placements import Placement, RolloutStrategyType
from hub import Change, Controller, Hub, Json, Key, version_of
from placement.content_watches import ContentWatches
from placement.metadata import asked, is_going
from placement.selection import ReadRecord, SelectionError, SelectionRead, Watched, not_watched
from placement.settings import PlacementSettings
from placement.snapshots import store_selection
from placement.stores import ScopeStores, placement_of
from planning.placements.snapshotting import index_of, master_name

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SelectorVerdict:
    """Whether the selectors of one generation of a placement are valid."""

    uid: str
    generation: int
    error: str
    """What the user has to change; empty if the selectors are valid."""
    snapshot: str = ""
    """Name of the snapshot that holds the content; empty if none was stored."""


class Contents:
    """Selects the content of each placement of a scope when it or the placement changes."""

    def __init__(
        self,
        hub: Hub,
        stores: ScopeStores,
        watches: ContentWatches,
        *,
        settings: PlacementSettings,
        judged: Callable[[Key], None],
    ) -> None:
        self._hub = hub
        self._scope = stores.scope
        self._placements = stores.placements
        self._watches = watches
        self._settings = settings
        self._judged = judged
        self._verdicts: dict[Key, SelectorVerdict] = {}
        self._storing: set[Key] = set()
        self._stored: dict[Key, float] = {}
        """When changed content of each placement was last stored, in the loop's time."""
        self._since: dict[Key, int] = {}
        """The version of the hub that watches must have reached for a placement's next selection,
        so that it sees what a person did before changing the placement. Without a version, the
        selection reads from the hub. (An aggregated API server counts its own versions: a
        selection may be too early for its kinds, and the watch then triggers another one.)"""
        self.controller = Controller(
            f"content of {stores.scope.placement.kind}", self._reconcile, workers=2
        )
        stores.placements.subscribe(self._on_placement)
        stores.snapshots.subscribe(self._on_snapshot)

    def verdict(self, placement: Json) -> SelectorVerdict | None:
        """Return the verdict on the current generation of a placement; None if not known yet."""
        metadata = placement["metadata"]
        found = self._verdicts.get((metadata.get("namespace", ""), metadata["name"]))
        current = (metadata["uid"], metadata["generation"])
        return found if found and (found.uid, found.generation) == current else None

    def look_soon(self, key: Key) -> None:
        """Select again after the debounce time; several requests become one selection."""
        self.controller.queue.add_after(key, self._settings.content_debounce)

    def look_at_all(self) -> None:
        """Select everything again, because the kinds that the hub serves have changed."""
        self._since.clear()
        for body in self._placements.items():
            self.look_soon((body["metadata"].get("namespace", ""), body["metadata"]["name"]))

    def _on_placement(self, change: Change) -> None:
        if asked(change.old) != asked(change.new):
            # The watches may lag behind objects that were created just before.
            self._since[change.key] = int(version_of(change.new)) if change.new else 0
            self.controller.queue.add(change.key)

    def _on_snapshot(self, change: Change) -> None:
        """Select again if a run has stored outdated content, or a person has deleted a snapshot."""
        body = change.new or change.old
        key = placement_of(body) if body else None
        if key is None or body is None or key in self._storing or (change.old and change.new):
            return
        verdict = self._verdicts.get(key)
        is_part_of_latest = verdict is not None and verdict.snapshot == _master_of(key, body)
        if verdict is not None and is_part_of_latest == (change.new is None):
            if is_part_of_latest:  # Rewriting it must not be delayed.
                self._stored.pop(key, None)
            # The watches may lag behind what the author of the snapshot saw; a deletion has no
            # version.
            self._since.pop(key, None)
            if change.new:
                self._since[key] = int(version_of(change.new))
            self.look_soon(key)

    async def _reconcile(self, key: Key) -> timedelta | None:
        subject = (self._scope.name, key)
        body = self._placements.get(key)
        if body is None or is_going(body):
            self._verdicts.pop(key, None)
            self._since.pop(key, None)
            self._stored.pop(key, None)
            self._watches.drop(subject)
            return None
        if left := self._interval_left(key, body):
            return left
        sight = ReadRecord()
        verdict = await self._look(key, body, sight)
        if self._settings.snapshot_on_change or not _is_external(body):
            self._watches.want(subject, sight)
        if self._verdicts.get(key) != verdict:
            self._verdicts[key] = verdict
            self._judged(key)
        return None

    def _interval_left(self, key: Key, body: Json) -> timedelta | None:
        """Return how long to keep collecting changes of content; None if they can be stored now.

        Changes of the placement itself do not wait, nor does the next try after invalid selectors.
        After a restart nothing waits.
        """
        stored, verdict = self._stored.get(key), self.verdict(body)
        if stored is None or verdict is None or verdict.error:
            return None
        passed = timedelta(seconds=asyncio.get_running_loop().time() - stored)
        left = self._settings.snapshot_interval - passed
        return left if left > timedelta(0) else None

    async def _look(self, key: Key, body: Json, sight: ReadRecord) -> SelectorVerdict:
        uid, generation = body["metadata"]["uid"], body["metadata"]["generation"]
        watched: Watched = not_watched
        since = self._since.pop(key, None)
        if since is not None:
            watched = partial(self._watches.objects, (self._scope.name, key), since=since)
        self._storing.add(key)
        try:
            snapshot = await self._store(key, body, sight, watched)
        except SelectionError as error:
            logger.info("%s %s: %s", self._scope.placement, key[1], error)
            snapshot, problem = "", str(error)
        else:
            problem = ""
        finally:
            self._storing.discard(key)
        # From now on the watches are enough, unless a version was required in the meantime.
        self._since.setdefault(key, 0)
        return SelectorVerdict(uid, generation, problem, snapshot)

    async def _store(self, key: Key, body: Json, sight: ReadRecord, watched: Watched) -> str:
        rules = self._settings.rules
        if _is_external(body) and not self._settings.snapshot_on_change:
            await SelectionRead(self._hub, Placement.from_wire(body), rules=rules).resources()
            return ""
        taken = await store_selection(
            self._hub,
            scope=self._scope,
            placement=body,
            rules=rules,
            sight=sight,
            watched=watched,
        )
        # A placement's first content is often still being created, so the next change is stored at
        # once.
        if taken.created and taken.index > 0:
            self._stored[key] = asyncio.get_running_loop().time()
        return taken.name


def _is_external(body: Json) -> bool:
    """Return whether runs roll out the placement; they may then take snapshots, too."""
    strategy = body["spec"].get("strategy", {})
    return bool(strategy.get("type") == RolloutStrategyType.EXTERNAL)


def _master_of(placement: Key, snapshot: Json) -> str:
    """Return the name of the master snapshot that an object belongs to."""
    return master_name(placement[1], index_of(snapshot))
