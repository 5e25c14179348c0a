"""The objects of a cache, and the changes that events make. Pure: no I/O, no clock."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hub.objects import Json, Key, key_of, uid_of, version_of
from hub.watching import WatchEvent

Keep = Callable[[Json], Json]
"""Returns the part of an object to keep: at least its metadata, and what else is read later."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one object: added (no `old`), modified, or deleted (no `new`)."""

    key: Key
    old: Json | None
    """The object as it was kept."""
    new: Json | None
    """The object in full, including what is not kept of it."""


def whole(body: Json) -> Json:
    """Return all of an object."""
    return body


class Store:
    """Objects by key, in sync with the API server up to `version`; of each, what `keep` returns."""

    def __init__(self, keep: Keep = whole) -> None:
        self._keep = keep
        self.objects: dict[Key, Json] = {}
        self.version = ""

    def relisting(self) -> "Relisting":
        """Start to replace all objects with those of a list."""
        return Relisting(self)

    def put(self, key: Key, body: Json) -> Change:
        """Store one object."""
        old = self.objects.get(key)
        self.objects[key] = self._keep(body)
        return Change(key, old, body)

    def apply(self, event: WatchEvent) -> Change | None:
        """Store the object of one event; return None if nothing is new.

        Events of one kind come in the order of their versions, so an event that is not newer than
        the store was seen before: it is repeated, or older than the list.
        """
        version = version_of(event.object)
        if not _newer(version, self.version):
            return None
        self.version = version
        if event.type == "BOOKMARK":
            return None
        key = key_of(event.object)
        if event.type == "DELETED":
            old = self.objects.pop(key, None)
            return Change(key, old, None) if old else None
        return self.put(key, event.object)


class Relisting:
    """Replaces the objects of a store page by page, so that the full list is never in memory."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._listed: set[Key] = set()

    def take(self, page: Iterable[Json]) -> list[Change]:
        """Store the objects of one page; return the changes."""
        changes = []
        for body in page:
            key = key_of(body)
            self._listed.add(key)
            if not _same(self._store.objects.get(key), body):
                changes.append(self._store.put(key, body))
        return changes

    def end(self, version: str) -> list[Change]:
        """Delete the objects that were on no page; return the changes. `version` is the list's."""
        gone = self._store.objects.keys() - self._listed
        self._store.version = version
        return [Change(key, self._store.objects.pop(key), None) for key in sorted(gone)]


def _same(old: Json | None, new: Json) -> bool:
    return old is not None and (uid_of(old), version_of(old)) == (uid_of(new), version_of(new))


def _newer(version: str, than: str) -> bool:
    # Versions are numbers if the API server uses etcd. If they are not, they can only be
    # compared for equality.
    if version.isdecimal() and than.isdecimal():
        return int(version) > int(than)
    return version != than
