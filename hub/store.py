"""The objects that a cache mirrors, and what each event changes. Pure: no I/O, no clock."""

from collections.abc import Iterable
from dataclasses import dataclass

from hub.objects import Json, Key, key_of, uid_of, version_of
from hub.watching import WatchEvent


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one object: added (no `old`), modified, or deleted (no `new`)."""

    key: Key
    old: Json | None
    new: Json | None


class Store:
    """Objects by key, in step with the API server up to `version`."""

    def __init__(self) -> None:
        self.objects: dict[Key, Json] = {}
        self.version = ""

    def replace(self, items: Iterable[Json], version: str) -> list[Change]:
        """Take over a whole list; returns what is different, deletions included."""
        fresh = {key_of(item): item for item in items}
        gone = [Change(key, old, None) for key, old in self.objects.items() if key not in fresh]
        changed = [
            Change(key, self.objects.get(key), new)
            for key, new in fresh.items()
            if not _same(self.objects.get(key), new)
        ]
        self.objects, self.version = fresh, version
        return gone + changed

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
        old = self.objects.pop(key, None)
        if event.type == "DELETED":
            return Change(key, old, None) if old else None
        self.objects[key] = event.object
        return Change(key, old, event.object)


def _same(old: Json | None, new: Json) -> bool:
    return old is not None and (uid_of(old), version_of(old)) == (uid_of(new), version_of(new))


def _newer(version: str, than: str) -> bool:
    # Versions are numbers wherever etcd is behind the API server. Where they are not, being
    # different is all that can be said.
    if version.isdecimal() and than.isdecimal():
        return int(version) > int(than)
    return version != than
