"""Watching applied objects on the member and reporting which Works a change concerns.

contract: placement 8 (availability); decision record 0033
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from contextvars import Context
from dataclasses import dataclass
from typing import Any, Final, Protocol

from api.kinds import Kind
from hub import Cache, Change, Forbidden, Hub, HubError, Json, Key, key_of, uid_of, version_of
from planning.members import availability
from planning.members.availability import Availability
from planning.members.comparisons import content_hash

logger = logging.getLogger(__name__)

_WHO: Final = ("namespace", "name", "uid", "resourceVersion")
_SEEN: Final = "seen"
"""Key under which a cache keeps the `Seen` of an object that a Work names."""


@dataclass(frozen=True, slots=True)
class Spot:
    """The address of one object on the member, whether or not it exists."""

    kind: Kind
    namespace: str
    """Empty for a cluster-scoped kind."""
    name: str


@dataclass(frozen=True, slots=True)
class Seen:
    """The part of an object on the member that is needed to judge it, and much smaller."""

    version: str
    """Resource version."""
    uid: str
    content: str = ""
    """Fingerprint of the object's content; empty if it was not read."""
    generation: int = 0
    """0 for a kind without generations."""
    availability: Availability = Availability.NOT_YET
    status: Mapping[str, Any] | None = None
    """The object's status; None for a kind without one."""


def seen(kind: Kind, live: Json) -> Seen:
    """Return what is kept of an object that the member's API server returned."""
    return Seen(
        version=version_of(live),
        uid=uid_of(live),
        content=content_hash(live),
        generation=live["metadata"].get("generation", 0),
        availability=availability.judge(kind, live),
        status=live.get("status"),
    )


@dataclass(frozen=True, slots=True)
class ObservedChange:
    """A change on the member to an object that a Work names."""

    work: str
    spot: Spot
    gone: bool


class ObjectWatches:
    """One watch per kind that Works name, dropped when no Work names the kind any longer.

    A watch sees all objects of its kind, but only those that a Work names are read and reported;
    for the others it keeps only the identity. An agent that may not watch a kind in all namespaces
    watches each namespace that Works name.
    """

    def __init__(self, cluster: Hub, *, notify: Callable[[ObservedChange], None]) -> None:
        self._cluster = cluster
        self._notify_of = notify
        self._wanted: dict[str, frozenset[Spot]] = {}
        self._works: dict[Spot, set[str]] = {}
        self._views: dict[Kind, _View] = {}

    def look(self, work: str, spots: Iterable[Spot]) -> None:
        """Watch exactly these objects for a Work, in addition to those of other Works."""
        wanted = frozenset(spots)
        if wanted != self._wanted.get(work, frozenset()):
            self._note(work, wanted)
            self._adjust()

    def forget(self, work: str) -> None:
        """Stop watching objects for a Work."""
        self.look(work, ())

    def get(self, spot: Spot) -> Seen | None:
        """Return an object as last seen; None if it has not been seen (yet)."""
        view = self._views.get(spot.kind)
        return view.get(spot) if view else None

    async def close(self) -> None:
        """End all watches."""
        self._wanted.clear()
        self._works.clear()
        views = list(self._views.values())
        self._adjust()
        await asyncio.gather(*(each.ended() for each in views))

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
        wanted: dict[Kind, set[str]] = {}
        for spot in self._works:
            wanted.setdefault(spot.kind, set()).add(spot.namespace)
        for kind in self._views.keys() - wanted.keys():
            self._views.pop(kind).end()
        for kind, namespaces in wanted.items():
            if kind not in self._views:
                self._views[kind] = _View(
                    self._cluster, kind, is_named=self._works.__contains__, notify=self._notify
                )
            self._views[kind].follow(namespaces)

    def _notify(self, spot: Spot, *, gone: bool) -> None:
        for work in sorted(self._works.get(spot, ())):
            self._notify_of(ObservedChange(work, spot, gone=gone))


class _OnChange(Protocol):
    def __call__(self, spot: Spot, *, gone: bool) -> None: ...


@dataclass(frozen=True, slots=True)
class _Watch:
    cache: Cache
    task: asyncio.Task[None]


class _View:
    """The known objects of one kind, from one watch or from one watch per namespace.

    Watches per namespace are used while a watch of all namespaces is refused. The refused watch is
    retried, and takes over as soon as it is granted.
    """

    def __init__(
        self, cluster: Hub, kind: Kind, *, is_named: Callable[[Spot], bool], notify: _OnChange
    ) -> None:
        self._cluster = cluster
        self._kind = kind
        self._is_named = is_named
        self._notify_of = notify
        self._namespaces: set[str] = set()
        self._is_split = False
        self._narrow: dict[str, _Watch] = {}
        self._wide = self._watch("")
        self._wide.cache.on_trouble(self._on_trouble)

    def follow(self, namespaces: set[str]) -> None:
        """Make sure that objects in these namespaces are watched."""
        self._namespaces = namespaces
        self._adjust()

    def get(self, spot: Spot) -> Seen | None:
        """Return an object as last seen; None if it has not been seen."""
        watch = self._narrow.get(spot.namespace, self._wide)
        body = watch.cache.get(spot.name, spot.namespace)
        if body is None:
            return None
        found: Seen | None = body.get(_SEEN)
        # The content was not read if no Work named the object when it was seen. A version newer
        # than the applied one then counts as changed, and is read when it is applied again.
        return found or Seen(version=version_of(body), uid=uid_of(body))

    def end(self) -> None:
        """Cancel all watches."""
        for each in (self._wide, *self._narrow.values()):
            each.task.cancel()

    async def ended(self) -> None:
        """Wait until the cancelled watches have ended."""
        tasks = [each.task for each in (self._wide, *self._narrow.values())]
        await asyncio.gather(*tasks, return_exceptions=True)

    def _watch(self, namespace: str) -> _Watch:
        cache = Cache(self._cluster, self._kind, namespace=namespace, keep=self._kept)
        cache.subscribe(self._on_change)
        name = f"watch of {self._kind.plural} in {namespace or 'all namespaces'}"
        # The watch serves all Works, so it must not count as a sign of life of the first one.
        task = asyncio.create_task(cache.run(), name=name, context=Context())
        return _Watch(cache, task)

    def _kept(self, body: Json) -> Json:
        """Return the identity of an object, with its `Seen` if a Work names it."""
        spot = self._spot(key_of(body))
        kept: Json = {"metadata": {name: body["metadata"].get(name, "") for name in _WHO}}
        return kept | {_SEEN: seen(self._kind, body)} if self._is_named(spot) else kept

    def _on_change(self, change: Change) -> None:
        self._notify_of(self._spot(change.key), gone=change.new is None)

    def _spot(self, key: Key) -> Spot:
        return Spot(self._kind, *key)

    def _on_trouble(self, error: HubError | None) -> None:
        """Watch per namespace if all namespaces are forbidden; other errors are temporary."""
        if isinstance(error, Forbidden) and self._kind.namespaced:
            logger.info("watching %s namespace by namespace: %s", self._kind.plural, error)
            self._is_split = True
        else:
            self._wide.cache.log(error)
            self._is_split = self._is_split and error is not None
        self._adjust()

    def _adjust(self) -> None:
        wanted = self._namespaces if self._is_split else set()
        for namespace in self._narrow.keys() - wanted:
            self._narrow.pop(namespace).task.cancel()
        for namespace in wanted - self._narrow.keys():
            self._narrow[namespace] = self._watch(namespace)
