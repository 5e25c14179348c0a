"""Sources of an agent's Works and MemberCluster: its own watches, or shared ones.

An agent that runs next to its member watches its own objects and may see no others. Where many
agents share a process, one watch serves them all: thousands of watches would each hold a
connection.

contract: placement 8 and 11; decision record 0033
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

from hub import Cache, Change, Json, Key

OnChange = Callable[[Change], None]


class Source(Protocol):
    """Objects of one kind that concern one agent; a `hub.Cache` is one.

    Works are in the form that `agent.packing` keeps.
    """

    async def run(self) -> None:
        """Stay in sync until cancelled."""

    @property
    def trouble(self) -> str:
        """Why it is out of sync with the API server; empty while it is in sync."""

    async def ready(self) -> None:
        """Wait until all objects have been read."""

    def get(self, name: str, namespace: str = "") -> Json | None:
        """Return one object, as last seen."""

    def items(self) -> list[Json]:
        """Return all objects, sorted by namespace and name."""

    def subscribe(self, callback: OnChange) -> Callable[[], None]:
        """Call back on each change, and now for each existing object; return a way to stop."""


class Split:
    """Divides the objects of one cache into parts, each with its own subscribers."""

    def __init__(self, cache: Cache, *, by: Callable[[Key], str]) -> None:
        """Prepare to split.

        Args:
            cache: the objects of all agents; the caller runs it.
            by: returns the part that an object's key belongs to.
        """
        self.cache = cache
        self._by = by
        self._keys: dict[str, set[Key]] = {}
        self._callbacks: dict[str, list[OnChange]] = {}
        cache.subscribe(self._on_change)

    def part(self, name: str) -> "AgentShare":
        """Return the part of that name, even if it has no objects yet."""
        return AgentShare(name, self)

    def keys(self, part: str) -> list[Key]:
        """Return the keys of all objects of a part, sorted."""
        return sorted(self._keys.get(part, ()))

    def subscribe(self, part: str, callback: OnChange) -> Callable[[], None]:
        """Call back on each change in a part, and now for each existing object."""
        self._callbacks.setdefault(part, []).append(callback)
        for namespace, name in self.keys(part):
            callback(Change((namespace, name), None, self.cache.get(name, namespace)))

        def unsubscribe() -> None:
            callbacks = self._callbacks.get(part, [])
            if callback in callbacks:
                callbacks.remove(callback)
            if not callbacks:
                self._callbacks.pop(part, None)

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
        for callback in tuple(self._callbacks.get(part, ())):
            callback(change)


class AgentShare:
    """The objects of one agent, out of those that all agents share."""

    def __init__(self, name: str, split: Split) -> None:
        self._name = name
        self._split = split
        self._subscriptions: list[Callable[[], None]] = []

    async def run(self) -> None:
        """Wait until cancelled; the shared cache runs elsewhere."""
        try:
            await asyncio.Event().wait()
        finally:
            for unsubscribe in self._subscriptions:
                unsubscribe()

    @property
    def trouble(self) -> str:
        """Why it is out of sync with the API server; empty while it is in sync."""
        return self._split.cache.trouble

    async def ready(self) -> None:
        """Wait until all objects have been read."""
        await self._split.cache.ready()

    def get(self, name: str, namespace: str = "") -> Json | None:
        """Return one object, as last seen."""
        return self._split.cache.get(name, namespace)

    def items(self) -> list[Json]:
        """Return all objects of the part, sorted by namespace and name."""
        found = (self.get(name, namespace) for namespace, name in self._split.keys(self._name))
        return [each for each in found if each is not None]

    def subscribe(self, callback: OnChange) -> Callable[[], None]:
        """Call back on each change of the part, and now for each existing object."""
        unsubscribe = self._split.subscribe(self._name, callback)
        self._subscriptions.append(unsubscribe)
        return unsubscribe
