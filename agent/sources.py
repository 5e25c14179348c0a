"""Where an agent learns of its Works and its MemberCluster: watches of its own, or shared ones.

An agent next to its member watches its own objects and may see no others. Where many agents live
in one process, one watch serves them all: thousands of watches would each hold a connection.

contract: placement 8 and 11; design D6
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from hub import Cache, Change, Json, Key

Told = Callable[[Change], None]


class Source(Protocol):
    """Objects of one kind that concern one agent; a `hub.Cache` is one.

    Works are as `agent.packing` keeps them.
    """

    async def run(self) -> None:
        """Stay in step until cancelled."""

    @property
    def trouble(self) -> str:
        """Why it is out of step with the API server now; empty when it is in step."""

    async def ready(self) -> None:
        """Wait until everything is known."""

    def get(self, name: str, namespace: str = "") -> Json | None:
        """One object, as last seen."""

    def items(self) -> list[Json]:
        """All objects, sorted by namespace and name."""

    def subscribe(self, callback: Told) -> Callable[[], None]:
        """Call back on each change, at once for what is there; returns how to stop it."""


class Split:
    """Hands out the objects of one cache in parts, each to its own subscribers."""

    def __init__(self, cache: Cache, *, by: Callable[[Key], str]) -> None:
        """Prepare to split.

        Args:
            cache: the objects of all agents; somebody else runs it.
            by: tells of an object's key which part it belongs to.
        """
        self.cache = cache
        self._by = by
        self._keys: dict[str, set[Key]] = {}
        self._told: dict[str, list[Told]] = {}
        cache.subscribe(self._on_change)

    def part(self, name: str) -> "Part":
        """The part of that name, whether anything of it is there or not."""
        return Part(name, self)

    def keys(self, part: str) -> list[Key]:
        """Keys of all objects of a part, sorted."""
        return sorted(self._keys.get(part, ()))

    def subscribe(self, part: str, callback: Told) -> Callable[[], None]:
        """Call back on each change in a part, at once for what is there."""
        self._told.setdefault(part, []).append(callback)
        for namespace, name in self.keys(part):
            callback(Change((namespace, name), None, self.cache.get(name, namespace)))

        def unsubscribe() -> None:
            told = self._told.get(part, [])
            if callback in told:
                told.remove(callback)
            if not told:
                self._told.pop(part, None)

        return unsubscribe

    def _on_change(self, change: Change) -> None:
        part = self._by(change.key)
        keys = self._keys.setdefault(part, set())
        if change.new is None:
            keys.discard(change.key)
        else:
            keys.add(change.key)
        if not keys:
            del self._keys[part]
        for callback in tuple(self._told.get(part, ())):
            callback(change)


class Part:
    """What concerns one agent of what all of them share."""

    def __init__(self, name: str, split: Split) -> None:
        self._name = name
        self._split = split
        self._subscriptions: list[Callable[[], None]] = []

    async def run(self) -> None:
        """Stay until cancelled; the shared cache runs elsewhere."""
        try:
            await asyncio.Event().wait()
        finally:
            for unsubscribe in self._subscriptions:
                unsubscribe()

    @property
    def trouble(self) -> str:
        """Why it is out of step with the API server now; empty when it is in step."""
        return self._split.cache.trouble

    async def ready(self) -> None:
        """Wait until everything is known."""
        await self._split.cache.ready()

    def get(self, name: str, namespace: str = "") -> Json | None:
        """One object, as last seen."""
        return self._split.cache.get(name, namespace)

    def items(self) -> list[Json]:
        """All objects of the part, sorted by namespace and name."""
        found = (self.get(name, namespace) for namespace, name in self._split.keys(self._name))
        return [each for each in found if each is not None]

    def subscribe(self, callback: Told) -> Callable[[], None]:
        """Call back on each change of the part, at once for what is there."""
        unsubscribe = self._split.subscribe(self._name, callback)
        self._subscriptions.append(unsubscribe)
        return unsubscribe
