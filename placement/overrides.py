"""Lookup of override snapshots: those that a binding names, and the latest that apply.

contract: placement 6 (missing override snapshots), 9
"""

from collections.abc import Callable, Mapping, Sequence

from api import names
from api.bindings import Binding
from api.overrides import ClusterResourceOverrideSnapshot, ResourceOverrideSnapshot
from api.reasons.bindings import OVERRIDE_MISSING
from hub import Change, Json, Key, labels_of
from placement.stores import Stores, WriteThroughStore
from planning.overrides.matching import ClusterOverrides, Overrides, targets
from planning.overrides.rendering import OverrideError, overridden


class BindingOverrides:
    """The override snapshots of bindings, read from the hub."""

    def __init__(self, stores: Stores) -> None:
        self._members = stores.members
        self._cluster = stores.cluster_overrides.snapshots
        self._resource = stores.resource_overrides.snapshots

    def on_new(self, callback: Callable[[], None]) -> None:
        """Call `callback` whenever an override snapshot is created."""

        def note(change: Change) -> None:
            if change.old is None:
                callback()

        self._cluster.subscribe(note)
        self._resource.subscribe(note)

    def apply(self, binding: Binding, resources: Sequence[Json]) -> list[Json]:
        """Return the objects as the binding's cluster gets them.

        Raises OverrideError, also if an override snapshot is missing.
        """
        cluster = binding.spec.target_cluster
        labels = _labels(self._members, cluster)
        return overridden(resources, self._of(binding), cluster=cluster, labels=labels)

    def _of(self, binding: Binding) -> Overrides:
        spec = binding.spec
        cluster_resource = [
            _found(self._cluster, "", name, "clusterResourceOverrideSnapshot")
            for name in spec.cluster_resource_override_snapshots
        ]
        resource = [
            _found(self._resource, each.namespace, each.name, "resourceOverrideSnapshot")
            for each in spec.resource_override_snapshots
        ]
        return Overrides.of(
            map(ClusterResourceOverrideSnapshot.from_wire, cluster_resource),
            map(ResourceOverrideSnapshot.from_wire, resource),
        )


class LatestOverrides:
    """The overrides that currently apply to a placement."""

    def __init__(self, stores: Stores) -> None:
        self._members = stores.members
        self._cluster = stores.cluster_overrides.snapshots
        self._resource = stores.resource_overrides.snapshots

    def on_change(self, callback: Callable[[], None]) -> None:
        """Call `callback` whenever they may have changed."""
        self._cluster.subscribe(lambda _: callback())
        self._resource.subscribe(lambda _: callback())

    def on_clusters(
        self, clusters: Sequence[str], placement: Key, *, content: Callable[[], list[Json]]
    ) -> Mapping[str, ClusterOverrides]:
        """Return the overrides of the content by cluster; clusters without any are left out.

        Raises UnreadableError.
        """
        overrides = self._latest(placement[0]).for_placement("/".join(placement))
        if not overrides:
            return {}
        labels = {each: _labels(self._members, each) for each in clusters}
        found = overrides.about(targets(content())).by_cluster(labels)
        return {each.cluster: each for each in found}

    def _latest(self, namespace: str) -> Overrides:
        # A ResourcePlacement has only objects of its own namespace.
        resource = [
            each
            for each in _marked(self._resource)
            if namespace in ("", each["metadata"]["namespace"])
        ]
        return Overrides.latest(
            map(
                ClusterResourceOverrideSnapshot.from_wire,
                _marked(self._cluster),
            ),
            map(ResourceOverrideSnapshot.from_wire, resource),
        )


def _marked(store: WriteThroughStore) -> list[Json]:
    """Return the snapshots that are the latest of their overrides."""
    mark = names.IS_LATEST_SNAPSHOT
    return [each for each in store.items() if (labels_of(each) or {}).get(mark) == "true"]


def _labels(members: WriteThroughStore, cluster: str) -> dict[str, str]:
    return labels_of(members.get(("", cluster))) or {}


def _found(store: WriteThroughStore, namespace: str, name: str, kind: str) -> Json:
    body = store.get((namespace, name))
    if body is None:
        where = f"{namespace}/{name}" if namespace else name
        raise OverrideError(OVERRIDE_MISSING.fill(kind=kind, name=where))
    return body
