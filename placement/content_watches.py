"""Watches on everything that placements select or read, as few as possible.

There is one cache per kind and namespace in use, shared by all placements, or one for the whole hub
if a kind is used in many places. A cache that no placement needs any more is dropped.
"""

import asyncio
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from dataclasses import dataclass

from api.kinds import Kind, ScopeName
from hub import Cache, Change, Hub, Json, Key, key_of
from placement.selection import Read, ReadRecord
from planning.placements.selecting import clean

WATCHES_PER_KIND = 4
"""Maximum number of watches for a kind, above which it is watched in the whole hub: a hub has some
thirty kinds, and every watch holds a connection."""

WATCHES_AGAIN = 2
"""A whole-hub watch is split again only if at most this many are needed. Otherwise some thirty
watches would restart whenever a placement is created or deleted near the limit."""

Subject = tuple[ScopeName, Key]
"""A placement: its scope and key."""


def merge(reads: Iterable[Read], *, running: Container[Read] = ()) -> set[Read]:
    """Return the watches that cover all reads, keeping running whole-hub watches if possible."""
    by_kind: dict[Kind, set[Read]] = {}
    for read in reads:
        by_kind.setdefault(read.kind, set()).add(read)
    merged: set[Read] = set()
    for kind, places in by_kind.items():
        apart = {each for each in places if not _covered(each, places)}
        most = WATCHES_AGAIN if Read(kind) in running else WATCHES_PER_KIND
        merged |= apart if len(apart) <= most else {Read(kind)}
    return merged


def _covered(read: Read, places: Collection[Read]) -> bool:
    wider = {Read(read.kind), Read(read.kind, read.namespace)} - {read}
    return any(each in places for each in wider)


def concerns(read: Read, key: Key) -> bool:
    """Return whether a read covers the object of its kind with this key."""
    namespace, name = key
    return read.namespace in ("", namespace) and read.name in ("", name)


def _placed_alike(old: Json, new: Json) -> bool:
    return clean(old) == clean(new)


@dataclass(frozen=True, slots=True)
class _Running:
    cache: Cache
    task: asyncio.Task[None]


class ContentWatches:
    """Watches that report which placements' content may have changed."""

    def __init__(
        self,
        hub: Hub,
        notify: Callable[[Subject], None],
        *,
        alike: Callable[[Json, Json], bool] = _placed_alike,
    ) -> None:
        """`alike` returns whether a change between two versions of an object can be ignored."""
        self._hub = hub
        self._notify = notify
        self._alike = alike
        self._wanted: dict[Subject, ReadRecord] = {}
        self._running: dict[Read, _Running] = {}
        self._ending: set[asyncio.Task[None]] = set()

    @property
    def watches(self) -> Mapping[Read, object]:
        """The running watches."""
        return self._running

    def want(self, subject: Subject, sight: ReadRecord) -> None:
        """Watch what a placement has read, instead of what it read before.

        The placement is notified of everything that differs from what it has seen.
        """
        self._wanted[subject] = sight
        self._adjust()

    def drop(self, subject: Subject) -> None:
        """Stop watching for a placement."""
        if self._wanted.pop(subject, None) is not None:
            self._adjust()

    def objects(self, subject: Subject, read: Read, *, since: int = 0) -> list[Json] | None:
        """Return the watched objects of a read.

        None if no watch covers the read, or if the watch lags behind what the placement last saw or
        behind version `since` of the hub.
        """
        sight = self._wanted.get(subject)
        seen = max(since, sight.newest.get(read.kind, 0) if sight else 0)
        for wider in (read, Read(read.kind, read.namespace), Read(read.kind)):
            running = self._running.get(wider)
            if running and running.cache.version >= seen:
                return [body for body in running.cache.items() if concerns(read, key_of(body))]
        return None

    async def close(self) -> None:
        """Stop all watches."""
        self._wanted.clear()
        self._adjust()
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _adjust(self) -> None:
        reads = (read for sight in self._wanted.values() for read in sight.reads)
        needed = merge(reads, running=self._running)
        for read in self._running.keys() - needed:
            self._stop(read)
        for read in needed - self._running.keys():
            self._start(read)

    def _start(self, read: Read) -> None:
        fields = f"metadata.name={read.name}" if read.name else ""
        cache = Cache(self._hub, read.kind, namespace=read.namespace, fields=fields)
        task = asyncio.create_task(
            self._watch(read, cache), name=f"watch of selected {read.kind.plural}"
        )
        self._running[read] = _Running(cache, task)
        cache.subscribe(lambda change: self._on_change(read.kind, change))

    def _stop(self, read: Read) -> None:
        task = self._running.pop(read).task
        task.cancel()
        # Keep a reference until it has ended, or the task may be garbage-collected midway.
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def _watch(self, watched: Read, cache: Cache) -> None:
        await asyncio.gather(cache.run(), self._find_missing(watched, cache))

    async def _find_missing(self, watched: Read, cache: Cache) -> None:
        """Notify of objects that were seen and deleted before the watch began, without an event."""
        await cache.ready()
        for subject, sight in tuple(self._wanted.items()):
            if any(
                kind == watched.kind
                and concerns(watched, key)
                and cache.get(key[1], key[0]) is None
                for kind, key in sight.versions
            ):
                self._notify(subject)

    def _on_change(self, kind: Kind, change: Change) -> None:
        if change.old and change.new and self._alike(change.old, change.new):
            return
        for subject, sight in self._wanted.items():
            if sight.is_old(kind, change.key, change.new):
                continue
            if any(read.kind == kind and concerns(read, change.key) for read in sight.reads):
                self._notify(subject)
