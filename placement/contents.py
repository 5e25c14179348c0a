"""Keeps each placement's content stored as it changes, and knows whether it can be selected.

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
from placement.selection import Selection, SelectionError, Sight, Watched, not_watched
from placement.settings import PlacementSettings
from placement.snapshots import store_selection
from placement.stores import ScopeStores, placement_of
from planning.placements.snapshotting import index_of, master_name

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the selectors of one generation of a placement can be followed."""

    uid: str
    generation: int
    error: str
    """What the user has to change; empty if nothing."""
    snapshot: str = ""
    """Name of the snapshot that has the content, if it was stored."""


class Contents:
    """Looks at what each placement of a scope selects, when that or the placement changed."""

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
        self._verdicts: dict[Key, Verdict] = {}
        self._storing: set[Key] = set()
        self._stored: dict[Key, float] = {}
        """When a change of each placement's content was stored last, by the loop's time."""
        self._since: dict[Key, int] = {}
        """The version of the hub that a watch must have come to for a placement's next look: what
        a person did before the placement asked for it has to be seen. Without one, the hub is
        asked. (Kinds of an aggregated API server count apart: of those, a look may be too early,
        and the watch brings another one.)"""
        self.controller = Controller(
            f"content of {stores.scope.placement.kind}", self._reconcile, workers=2
        )
        stores.placements.subscribe(self._on_placement)
        stores.snapshots.subscribe(self._on_snapshot)

    def verdict(self, placement: Json) -> Verdict | None:
        """Whether the placement, as it is now, can be selected; None while nobody has looked."""
        metadata = placement["metadata"]
        found = self._verdicts.get((metadata.get("namespace", ""), metadata["name"]))
        current = (metadata["uid"], metadata["generation"])
        return found if found and (found.uid, found.generation) == current else None

    def look_soon(self, key: Key) -> None:
        """Select again after a while; several wishes become one look."""
        self.controller.queue.add_after(key, self._settings.content_debounce)

    def look_at_all(self) -> None:
        """Select everything again, because the hub serves other kinds than before."""
        self._since.clear()
        for body in self._placements.items():
            self.look_soon((body["metadata"].get("namespace", ""), body["metadata"]["name"]))

    def _on_placement(self, change: Change) -> None:
        if asked(change.old) != asked(change.new):
            # The watches may lag behind objects that were created just before.
            self._since[change.key] = int(version_of(change.new)) if change.new else 0
            self.controller.queue.add(change.key)

    def _on_snapshot(self, change: Change) -> None:
        """A run may have stored content that is old by now, or a person deleted some of it."""
        body = change.new or change.old
        key = placement_of(body) if body else None
        if key is None or body is None or key in self._storing or (change.old and change.new):
            return
        verdict = self._verdicts.get(key)
        is_part_of_latest = verdict is not None and verdict.snapshot == _master_of(key, body)
        if verdict is not None and is_part_of_latest == (change.new is None):
            if is_part_of_latest:  # To write it again is not to be put off.
                self._stored.pop(key, None)
            # The watches may lag behind what the author of the snapshot saw; who deletes one
            # leaves no version.
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
        sight = Sight()
        verdict = await self._look(key, body, sight)
        if self._settings.snapshot_on_change or not _is_external(body):
            self._watches.want(subject, sight)
        if self._verdicts.get(key) != verdict:
            self._verdicts[key] = verdict
            self._judged(key)
        return None

    def _interval_left(self, key: Key, body: Json) -> timedelta | None:
        """How long changes of content are still collected; None when they are to be stored.

        What people change in the placement itself does not wait, nor does the next try after
        selectors that could not be followed. After a restart nothing waits.
        """
        stored, verdict = self._stored.get(key), self.verdict(body)
        if stored is None or verdict is None or verdict.error:
            return None
        passed = timedelta(seconds=asyncio.get_running_loop().time() - stored)
        left = self._settings.snapshot_interval - passed
        return left if left > timedelta(0) else None

    async def _look(self, key: Key, body: Json, sight: Sight) -> Verdict:
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
        # Unless something has come up meanwhile, only watched objects change from now on.
        self._since.setdefault(key, 0)
        return Verdict(uid, generation, problem, snapshot)

    async def _store(self, key: Key, body: Json, sight: Sight, watched: Watched) -> str:
        rules = self._settings.rules
        if _is_external(body) and not self._settings.snapshot_on_change:
            await Selection(self._hub, Placement.from_wire(body), rules=rules).resources()
            return ""
        taken = await store_selection(
            self._hub,
            scope=self._scope,
            placement=body,
            rules=rules,
            sight=sight,
            watched=watched,
        )
        # A placement's first content often is still being applied, so what follows goes at once.
        if taken.created and taken.index > 0:
            self._stored[key] = asyncio.get_running_loop().time()
        return taken.name


def _is_external(body: Json) -> bool:
    """Whether runs roll the placement out; then they may take snapshots as well."""
    strategy = body["spec"].get("strategy", {})
    return bool(strategy.get("type") == RolloutStrategyType.EXTERNAL)


def _master_of(placement: Key, snapshot: Json) -> str:
    """Name of the snapshot that describes the version which an object is a part of."""
    return master_name(placement[1], index_of(snapshot))
