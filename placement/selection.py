"""Reads the objects that a placement selects from the hub.

contract: placement 2.1, 3
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field

from api.kinds import NAMESPACE, Kind
from api.placements import Placement, ResourceSelector, SelectionScope
from hub import Hub, Json, Key, NotFound, key_of
from planning import selectors
from planning.placements.selecting import (
    ENDPOINTS,
    Selecting,
    SelectionError,
    SelectionRules,
    arrange,
    is_selectable,
)
from planning.resource_order import identify

__all__ = ["Read", "ReadRecord", "SelectionError", "SelectionRead", "Watched", "not_watched"]

READS_AT_ONCE = 8
"""Parallel lists: a namespace takes some thirty of them, one per kind."""

NAMESPACES_APART = 3
"""With more namespaces than this, a kind is listed once for the whole hub."""

SERVICE = Kind("", "v1", "Service", "services", namespaced=True)


@dataclass(frozen=True, slots=True)
class Read:
    """What a selection has read: if it changes, the selection may change."""

    kind: Kind
    namespace: str = ""
    """Empty for all namespaces, and for cluster-scoped kinds."""
    name: str = ""
    """Empty for all objects."""


@dataclass(slots=True)
class ReadRecord:
    """What a selection read from the hub, to tell later changes from known ones."""

    reads: set[Read] = field(default_factory=set)
    """What was read."""
    versions: dict[tuple[Kind, Key], int] = field(default_factory=dict)
    """Resource version of each object found, whether selected or not."""
    newest: dict[Kind, int] = field(default_factory=dict)
    """The newest of these versions, by kind."""

    def note(self, read: Read, found: Iterable[Json]) -> None:
        """Record a read and the objects that it found."""
        self.reads.add(read)
        for each in found:
            version = int(each["metadata"]["resourceVersion"])
            self.versions[read.kind, key_of(each)] = version
            self.newest[read.kind] = max(version, self.newest.get(read.kind, 0))

    def is_old(self, kind: Kind, key: Key, body: Json | None) -> bool:
        """Return whether this or a newer version was seen; a body of None means deleted."""
        seen = self.versions.get((kind, key))
        if body is None:
            return seen is None
        return seen is not None and int(body["metadata"]["resourceVersion"]) <= seen


Watched = Callable[[Read], list[Json] | None]
"""Returns the objects of a read from a watch; None to read them from the hub."""


def not_watched(_: Read) -> None:
    """Read everything from the hub."""


class SelectionRead:
    """One read of everything that a placement's selectors match."""

    def __init__(
        self,
        hub: Hub,
        placement: Placement,
        *,
        rules: SelectionRules,
        sight: ReadRecord | None = None,
        watched: Watched = not_watched,
    ) -> None:
        """`sight` records what is read, also if it ends in a SelectionError."""
        metadata = placement.metadata
        self._hub = hub
        self._rules = rules
        self._watched = watched
        self._terms = placement.spec.resource_selectors
        self._namespace = metadata.namespace
        self._at = Selecting(metadata.namespace, metadata.name)
        self._slots = asyncio.Semaphore(READS_AT_ONCE)
        self._sight = ReadRecord() if sight is None else sight

    async def resources(self) -> list[Json]:
        """Return the selected objects, cleaned and in order.

        Raises SelectionError if the user has to change the selectors.
        """
        found = [each for term in self._terms for each in await self._term(term)]
        return arrange(found)

    async def _term(self, term: ResourceSelector) -> Sequence[Json]:
        if not is_selectable(term.group, term.kind):
            return []
        api_version = f"{term.group}/{term.version}" if term.group else term.version
        kind = await self._hub.kind_for(api_version, term.kind)
        if kind is None:
            raise self._at.unknown_kind(term.kind, api_version)
        if kind == NAMESPACE and not self._namespace:
            return await self._namespaces(term)
        return await self._placeable(await self._matching(kind, self._home_of(kind), term))

    def _home_of(self, kind: Kind) -> str:
        """Return the namespace to read; empty for a cluster-scoped kind. Raises SelectionError."""
        if self._namespace:
            if not kind.namespaced:
                raise self._at.wrong_scope(kind)
            return self._namespace
        confined = self._confined_to()
        if kind.namespaced and not confined:
            raise self._at.wrong_scope(kind)
        return confined if kind.namespaced else ""

    def _confined_to(self) -> str:
        """Return the namespace whose objects further selectors pick; empty if there is none."""
        by_selectors = SelectionScope.NAMESPACE_WITH_RESOURCE_SELECTORS
        homes = [
            each.name
            for each in self._terms
            if (each.group, each.kind) == ("", NAMESPACE.kind)
            and each.selection_scope == by_selectors
        ]
        return homes[0] if homes else ""

    async def _namespaces(self, term: ResourceSelector) -> Sequence[Json]:
        whole = term.selection_scope == SelectionScope.NAMESPACE_WITH_RESOURCES
        if whole and term.name and not self._rules.is_open(term.name):
            raise self._at.closed_namespace(term.name)
        found = await self._placeable(await self._matching(NAMESPACE, "", term))
        if term.selection_scope == SelectionScope.NAMESPACE_WITH_RESOURCE_SELECTORS and not found:
            raise self._at.no_namespace()
        if not whole or not found:
            return found
        names = [each["metadata"]["name"] for each in found]
        return [*found, *await self._content(names)]

    async def _content(self, namespaces: Sequence[str]) -> list[Json]:
        """Return everything in these namespaces that can be placed."""
        kinds = [
            kind
            for kind in await self._hub.kinds()
            if kind.namespaced and is_selectable(kind.group, kind.kind)
        ]
        homes = [""] if len(namespaces) > NAMESPACES_APART else namespaces
        found = await _all_of(self._list(kind, home) for kind in kinds for home in homes)
        wanted = set(namespaces)
        return await self._placeable(
            each for part in found for each in part if identify(each).namespace in wanted
        )

    async def _matching(self, kind: Kind, namespace: str, term: ResourceSelector) -> list[Json]:
        if term.name:
            return await self._find(kind, namespace, term.name)
        problem = selectors.problem(term.label_selector)
        if problem:
            raise self._at.bad_labels(problem)
        found = await self._list(kind, namespace)
        if term.label_selector is None:
            return found
        return [
            each
            for each in found
            if selectors.matches(term.label_selector, each["metadata"].get("labels") or {})
        ]

    async def _find(self, kind: Kind, namespace: str, name: str) -> list[Json]:
        read = Read(kind, namespace, name)
        found = self._watched(read)
        if found is None:
            body = await self._hub.find(kind, name, namespace=namespace)
            found = [] if body is None else [_typed(kind, body)]
        self._sight.note(read, found)
        return found

    async def _list(self, kind: Kind, namespace: str) -> list[Json]:
        read = Read(kind, namespace)
        found = self._watched(read)
        if found is None:
            async with self._slots:
                try:
                    found = (await self._hub.list(kind, namespace=namespace)).items
                except NotFound:  # The kind is no longer served: its CRD was just deleted.
                    return []
        self._sight.note(read, found)
        return found

    async def _placeable(self, found: Iterable[Json]) -> list[Json]:
        found = list(found)
        services = await self._services_beside(found)
        may_be_placed = self._rules.may_be_placed
        return [each for each in found if may_be_placed(each, services=services)]

    async def _services_beside(self, found: Sequence[Json]) -> set[tuple[str, str]]:
        """Return namespace and name of the Services next to selected Endpoints."""
        identities = [identify(each) for each in found]
        homes = sorted(
            {each.namespace for each in identities if (each.group, each.kind) == ENDPOINTS}
        )
        lists = await _all_of(self._list(SERVICE, home) for home in homes)
        return {(identify(each).namespace, identify(each).name) for part in lists for each in part}


async def _all_of(reads: Iterable[Awaitable[list[Json]]]) -> list[list[Json]]:
    return list(await asyncio.gather(*reads))


def _typed(kind: Kind, body: Json) -> Json:
    return {"apiVersion": kind.api_version, "kind": kind.kind} | body
