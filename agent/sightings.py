"""Watching on the member what was applied there, and telling which Work it concerns.

contract: placement 8 (availability); design D1, D6
"""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from api.kinds import Kind
from hub import Cache, Change, Hub, Json
from planning.members import takeovers


@dataclass(frozen=True, slots=True)
class Place:
    """Where applied objects are looked at: a kind, in one namespace if it has namespaces."""

    kind: Kind
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Sighting:
    """An object of a Work changed on the member."""

    work: str
    place: Place
    name: str
    gone: bool


class Sightings:
    """One watch for each place where something is applied, dropped when nothing is any more.

    A watch sees all objects of its place, but only those that an AppliedWork owns are reported.
    Places are single namespaces, so that the rest of the member stays unread.
    """

    def __init__(self, cluster: Hub, *, told: Callable[[Sighting], None]) -> None:
        self._cluster = cluster
        self._told = told
        self._wanted: dict[str, frozenset[Place]] = {}
        self._caches: dict[Place, Cache] = {}
        self._tasks: dict[Place, asyncio.Task[None]] = {}

    def look(self, work: str, places: Iterable[Place]) -> None:
        """Watch exactly these places for a Work, besides what other Works want."""
        self._wanted[work] = frozenset(places)
        self._adjust()

    def forget(self, work: str) -> None:
        """Watch nothing for a Work any more."""
        if self._wanted.pop(work, None):
            self._adjust()

    def get(self, place: Place, name: str) -> Json | None:
        """An object as last seen; None when it was not seen (yet)."""
        cache = self._caches.get(place)
        return cache.get(name, place.namespace) if cache else None

    async def close(self) -> None:
        """End all watches."""
        self._wanted.clear()
        tasks = list(self._tasks.values())
        self._adjust()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _adjust(self) -> None:
        wanted = {place for places in self._wanted.values() for place in places}
        for place in self._caches.keys() - wanted:
            del self._caches[place]
            self._tasks.pop(place).cancel()
        for place in wanted - self._caches.keys():
            cache = Cache(self._cluster, place.kind, namespace=place.namespace)
            cache.subscribe(partial(self._on_change, place))
            self._caches[place] = cache
            self._tasks[place] = asyncio.create_task(cache.run(), name=f"watch {place}")

    def _on_change(self, place: Place, change: Change) -> None:
        name = change.key[1]
        for work in _works(change.old) | _works(change.new):
            self._told(Sighting(work, place, name, gone=change.new is None))


def _works(live: Json | None) -> set[str]:
    """Names of the Works that own an object."""
    owners = takeovers.owners(live) if live else ()
    return {owner["name"] for owner in owners if takeovers.is_applied_work(owner)}
