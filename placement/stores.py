"""The objects on the hub, as of the last event or, if newer, this process's last write.

Every controller reads from here. The answers to writes are recorded, so that a controller that runs
again before its watch has caught up does not repeat a write.
"""

import asyncio
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

from api import names
from api.bindings import Binding
from api.kinds import (
    CLUSTER_RESOURCE_OVERRIDE,
    CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT,
    CLUSTER_RESOURCE_PLACEMENT_STATUS,
    CUSTOM_RESOURCE_DEFINITION,
    MEMBER_CLUSTER,
    NAMESPACE,
    RESOURCE_OVERRIDE,
    RESOURCE_OVERRIDE_SNAPSHOT,
    SCOPES,
    WORK,
    Kind,
    Scope,
    ScopeName,
)
from api.members import MemberCluster
from hub import Cache, Change, Hub, Json, Keep, Key, key_of, whole
from planning.placements.binding_steps import kept

Model = TypeVar("Model")

OVERLAY_SECONDS = 10.0
"""How long a written object is assumed to exist before a watch shows it. Watches lag by
milliseconds; without a limit, an object that is deleted at once would stay in the store."""


class WriteThroughStore:
    """One kind's objects, including this process's writes; of each, what `keep` returns."""

    def __init__(self, hub: Hub, kind: Kind, *, labels: str = "", keep: Keep = whole) -> None:
        self.kind = kind
        self._cache = Cache(hub, kind, labels=labels, keep=keep)
        self._written: dict[Key, tuple[Json, float]] = {}
        self._groups: list[Group] = []
        # Before all others: subscribers that learn of a deletion must not find the object here.
        self._cache.subscribe(self._forget_written)

    async def run(self) -> None:
        """Follow the hub until cancelled."""
        await self._cache.run()

    async def ready(self) -> None:
        """Wait until the first list is complete."""
        await self._cache.ready()

    def get(self, key: Key) -> Json | None:
        """Return one object, which must not be changed, or None if it does not exist."""
        namespace, name = key
        cached = self._cache.get(name, namespace)
        written = self._written.get(key)
        if written is None:
            return cached
        body, until = written
        if cached is not None and _version(cached) >= _version(body):
            del self._written[key]
            return cached
        if cached is None and asyncio.get_running_loop().time() > until:
            del self._written[key]
            return None
        return body

    def items(self) -> Iterator[Json]:
        """Yield all objects, sorted by namespace and name."""
        for key in sorted({*self._cache.keys(), *self._written}):
            body = self.get(key)
            if body is not None:
                yield body

    def wrote(self, body: Json) -> None:
        """Record the API server's answer to a write of this process."""
        key = key_of(body)
        until = asyncio.get_running_loop().time() + OVERLAY_SECONDS
        watched = self._cache.get(key[1], key[0])
        # The watch may be faster than the answer.
        if watched is None or _version(watched) < _version(body):
            self._written[key] = (self._cache.kept(body), until)
        for group in self._groups:
            group.note(body)

    def _forget_written(self, change: Change) -> None:
        """Drop a recorded write once the watch has shown it, or a later change or deletion."""
        written, watched = self._written.get(change.key), change.new or change.old
        if written and watched and _version(watched) >= _version(written[0]):
            del self._written[change.key]

    def subscribe(self, callback: Callable[[Change], None]) -> None:
        """Call `callback` on each change from the watch, and now for each object."""
        self._cache.subscribe(callback)

    def group(self, by: Callable[[Json], Hashable | None]) -> "Group":
        """Return an index of the objects by something other than their key."""
        group = Group(self, by)
        self._groups.append(group)
        self._cache.subscribe(group.follow)
        return group


class Group:
    """An index of a store's objects by something that they have in common."""

    def __init__(self, store: WriteThroughStore, by: Callable[[Json], Hashable | None]) -> None:
        self._store = store
        self._by = by
        self._keys: dict[Hashable, set[Key]] = {}

    def of(self, common: Hashable) -> list[Json]:
        """Return the objects that have `common` in common, sorted by namespace and name."""
        found = (self._store.get(key) for key in sorted(self._keys.get(common, ())))
        return [body for body in found if body is not None and self._by(body) == common]

    def size(self, common: Hashable) -> int:
        """Return the approximate number of objects that have `common` in common."""
        return len(self._keys.get(common, ()))

    def note(self, body: Json) -> None:
        """Add an object."""
        common = self._by(body)
        if common is not None:
            self._keys.setdefault(common, set()).add(key_of(body))

    def follow(self, change: Change) -> None:
        """Update the index after a change."""
        if change.old is not None:
            self._forget(self._by(change.old), change.key)
        if change.new is not None:
            self.note(change.new)

    def _forget(self, common: Hashable | None, key: Key) -> None:
        keys = self._keys.get(common)
        if keys is not None:
            keys.discard(key)
            if not keys:
                del self._keys[common]


class Parsed(Generic[Model]):
    """Models of a store's objects, parsed once per version, because most are read more often."""

    def __init__(self, store: WriteThroughStore, parse: Callable[[Json], Model]) -> None:
        self._parse = parse
        self._known: dict[Key, tuple[Json, Model]] = {}
        store.subscribe(self._forget_deleted)

    def of(self, body: Json) -> Model:
        """Return the model of an object of the store, which must not be changed."""
        key = key_of(body)
        known = self._known.get(key)
        if known is None or known[0] is not body:
            known = self._known[key] = body, self._parse(body)
        return known[1]

    def _forget_deleted(self, change: Change) -> None:
        if change.new is None:
            self._known.pop(change.key, None)


class ScopeStores:
    """The objects of one scope."""

    def __init__(self, hub: Hub, scope: Scope) -> None:
        self.scope = scope
        self.placements = WriteThroughStore(hub, scope.placement)
        self.policies = WriteThroughStore(hub, scope.policy_snapshot)
        self.snapshots = WriteThroughStore(hub, scope.resource_snapshot)
        self.bindings = WriteThroughStore(hub, scope.binding)
        self.policies_of = self.policies.group(placement_of)
        self.snapshots_of = self.snapshots.group(placement_of)
        self.bindings_of = self.bindings.group(placement_of)
        self.bindings_on = self.bindings.group(lambda body: body["spec"].get("targetCluster"))
        self.parsed_bindings = Parsed(self.bindings, Binding.from_wire)

    def parsed_bindings_of(self, placement: Key) -> list[Binding]:
        """Return the bindings of a placement, sorted by name."""
        return [self.parsed_bindings.of(each) for each in self.bindings_of.of(placement)]

    def all(self) -> tuple[WriteThroughStore, ...]:
        """Return all stores."""
        return self.placements, self.policies, self.snapshots, self.bindings


class OverrideStores:
    """Overrides of one kind, and their snapshots."""

    def __init__(self, hub: Hub, override: Kind, snapshot: Kind) -> None:
        self.overrides = WriteThroughStore(hub, override)
        self.snapshots = WriteThroughStore(hub, snapshot)
        self.snapshots_of = self.snapshots.group(override_of)

    def all(self) -> tuple[WriteThroughStore, ...]:
        """Return all stores."""
        return self.overrides, self.snapshots


class Stores:
    """Everything that the built-in placement reads."""

    def __init__(self, hub: Hub) -> None:
        self.scopes = {name: ScopeStores(hub, scope) for name, scope in SCOPES.items()}
        self.works = WriteThroughStore(hub, WORK, keep=kept)
        self.members = WriteThroughStore(hub, MEMBER_CLUSTER)
        self.parsed_members = Parsed(self.members, MemberCluster.from_wire)
        self.member_namespaces = WriteThroughStore(hub, NAMESPACE, labels=names.MEMBER_NAME)
        self.definitions = WriteThroughStore(hub, CUSTOM_RESOURCE_DEFINITION)
        self.cluster_overrides = OverrideStores(
            hub, CLUSTER_RESOURCE_OVERRIDE, CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT
        )
        self.resource_overrides = OverrideStores(hub, RESOURCE_OVERRIDE, RESOURCE_OVERRIDE_SNAPSHOT)
        self.status_copies = WriteThroughStore(hub, CLUSTER_RESOURCE_PLACEMENT_STATUS)
        self.works_of = self.works.group(binding_of)
        """Works by the binding in their labels; `works_for` returns those that belong to it."""

    def works_for(self, scope: ScopeName, binding: Json) -> list[Json]:
        """Return the Works of a binding, sorted by name: only those in its own member's namespace.

        Agents can write the Works of their members, so labels of a Work are not trusted to name a
        binding of another member.
        """
        home = names.member_namespace(binding["spec"]["targetCluster"])
        found = self.works_of.of((scope, key_of(binding)))
        return [each for each in found if each["metadata"]["namespace"] == home]

    def all_members(self) -> Iterator[MemberCluster]:
        """Return the members, sorted by name."""
        return map(self.parsed_members.of, self.members.items())

    def all(self) -> list[WriteThroughStore]:
        """Return all stores."""
        own = [self.works, self.members, self.member_namespaces, self.definitions]
        own += [self.status_copies]
        own += [*self.cluster_overrides.all(), *self.resource_overrides.all()]
        return own + [store for scope in self.scopes.values() for store in scope.all()]


def placement_of(body: Json) -> Key | None:
    """Return the key of the placement that an object belongs to, by its label, or None."""
    metadata = body["metadata"]
    name = metadata.get("labels", {}).get(names.PARENT_PLACEMENT)
    return (metadata.get("namespace", ""), name) if name else None


def override_of(snapshot: Json) -> Key | None:
    """Return the key of the override that a snapshot belongs to, by its label, or None."""
    metadata = snapshot["metadata"]
    name = metadata.get("labels", {}).get(names.PARENT_RESOURCE_OVERRIDE)
    return (metadata.get("namespace", ""), name) if name else None


def binding_of(work: Json) -> tuple[ScopeName, Key] | None:
    """Return the scope and key of the binding that a Work belongs to, by its labels, or None."""
    labels = work["metadata"].get("labels", {})
    name = labels.get(names.PARENT_BINDING)
    if not name:
        return None
    namespace = labels.get(names.PARENT_PLACEMENT_NAMESPACE, "")
    return _scope_of(namespace), (namespace, name)


def parent_of(work: Json) -> tuple[ScopeName, Key] | None:
    """Return the scope and key of the placement that a Work belongs to, by its labels, or None."""
    labels = work["metadata"].get("labels", {})
    name = labels.get(names.PARENT_PLACEMENT)
    if not name:
        return None
    namespace = labels.get(names.PARENT_PLACEMENT_NAMESPACE, "")
    return _scope_of(namespace), (namespace, name)


def _scope_of(namespace: str) -> ScopeName:
    return ScopeName.NAMESPACED if namespace else ScopeName.CLUSTER


def _version(body: Json) -> int:
    return int(body["metadata"]["resourceVersion"])
