"""The objects that a cache mirrors, and what each event changes. Pure: no I/O, no clock."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hub.objects import Json, Key, key_of, uid_of, version_of
from hub.watching import WatchEvent

Keep = Callable[[Json], Json]
"""Returns what is kept of an object: its metadata at least, and what else is read later."""


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one object: added (no `old`), modified, or deleted (no `new`)."""

    key: Key
    old: Json | None
    """As it was kept."""
    new: Json | None
    """As it came: also what is not kept of it."""


def whole(body: Json) -> Json:
    """Keep all of an object."""
    return body


class Store:
    """Objects by key, in step with the API server up to `version`; of each, what `keep` leaves."""

    def __init__(self, keep: Keep = whole) -> None:
        self._keep = keep
        self.objects: dict[Key, Json] = {}
        self.version = ""

    def relisting(self) -> "Relisting":
        """Begin to take over a whole list."""
        return Relisting(self)

    def put(self, key: Key, body: Json) -> Change:
        """Take over one object."""
        old = self.objects.get(key)
        self.objects[key] = self._keep(body)
        return Change(key, old, body)

    def apply(self, event: WatchEvent) -> Change | None:
        """Take over one event; None when it tells nothing new.

        One kind's events come in the order of their versions, so whatever is not newer than the
        store was seen before: a doubled event, or one from before the list.
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
    """A list that replaces what a store has, page by page: never is all of it there as it came."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._listed: set[Key] = set()

    def take(self, page: Iterable[Json]) -> list[Change]:
        """Take over one page; returns what is different."""
        changes = []
        for body in page:
            key = key_of(body)
            self._listed.add(key)
            if not _same(self._store.objects.get(key), body):
                changes.append(self._store.put(key, body))
        return changes

    def end(self, version: str) -> list[Change]:
        """Drop what was on no page; returns what that is. `version` is the list's."""
        gone = self._store.objects.keys() - self._listed
        self._store.version = version
        return [Change(key, self._store.objects.pop(key), None) for key in sorted(gone)]


def _same(old: Json | None, new: Json) -> bool:
    return old is not None and (uid_of(old), version_of(old)) == (uid_of(new), version_of(new))


def _newer(version: str, than: str) -> bool:
    # Versions are numbers wherever etcd is behind the API server. Where they are not, being
    # different is all that can be said.
    if version.isdecimal() and than.isdecimal():
        return int(version) > int(than)
    return version != than
