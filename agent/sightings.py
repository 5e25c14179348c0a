"""Watching on the member what was applied there, and telling which Work it concerns.

contract: placement 8 (availability); design D1, D6
"""

import asyncio
from collections.abc import Callable, Iterable
from contextvars import Context
from dataclasses import dataclass
from functools import partial

from api.kinds import Kind
from hub import Cache, Change, Hub, Json


@dataclass(frozen=True, slots=True)
class Place:
    """Where applied objects are looked at: a kind, in one namespace if it has namespaces."""

    kind: Kind
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where one object is to be seen, whether it is there or not."""

    place: Place
    name: str


@dataclass(frozen=True, slots=True)
class Sighting:
    """An object that a Work names changed on the member."""

    work: str
    spot: Spot
    gone: bool


class Sightings:
    """One watch for each place where something is looked at, dropped when nothing is any more.

    A watch sees all objects of its place, but only those that a Work names are reported. Places
    are single namespaces, so that the rest of the member stays unread.
    """

    def __init__(self, cluster: Hub, *, told: Callable[[Sighting], None]) -> None:
        self._cluster = cluster
        self._told = told
        self._wanted: dict[str, frozenset[Spot]] = {}
        self._works: dict[Spot, set[str]] = {}
        self._caches: dict[Place, Cache] = {}
        self._tasks: dict[Place, asyncio.Task[None]] = {}

    def look(self, work: str, spots: Iterable[Spot]) -> None:
        """Watch exactly these objects for a Work, besides what other Works want."""
        wanted = frozenset(spots)
        if wanted != self._wanted.get(work, frozenset()):
            self._note(work, wanted)
            self._adjust()

    def forget(self, work: str) -> None:
        """Watch nothing for a Work any more."""
        self.look(work, ())

    def get(self, spot: Spot) -> Json | None:
        """An object as last seen; None when it was not seen (yet)."""
        cache = self._caches.get(spot.place)
        return cache.get(spot.name, spot.place.namespace) if cache else None

    async def close(self) -> None:
        """End all watches."""
        self._wanted.clear()
        self._works.clear()
        tasks = list(self._tasks.values())
        self._adjust()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _note(self, work: str, spots: frozenset[Spot]) -> None:
        for spot in self._wanted.pop(work, frozenset()) - spots:
            self._works[spot].discard(work)
            if not self._works[spot]:
                del self._works[spot]
        for spot in spots:
            self._works.setdefault(spot, set()).add(work)
        if spots:
            self._wanted[work] = spots

    def _adjust(self) -> None:
        wanted = {spot.place for spot in self._works}
        for place in self._caches.keys() - wanted:
            del self._caches[place]
            self._tasks.pop(place).cancel()
        for place in wanted - self._caches.keys():
            cache = Cache(self._cluster, place.kind, namespace=place.namespace)
            cache.subscribe(partial(self._on_change, place))
            self._caches[place] = cache
            self._tasks[place] = asyncio.create_task(
                cache.run(),
                name=f"watch {place}",
                # It serves others too, so it is no sign of life of the Work that is first.
                context=Context(),
            )

    def _on_change(self, place: Place, change: Change) -> None:
        spot = Spot(place, change.key[1])
        for work in sorted(self._works.get(spot, ())):
            self._told(Sighting(work, spot, gone=change.new is None))
