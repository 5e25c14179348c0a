"""Finds override snapshots: those that a binding names, and the latest that it should name.

contract: placement 6 (missing override snapshots), 9
"""

from collections.abc import Callable, Mapping, Sequence

from api import names
from api.bindings import Binding
from api.overrides import ClusterResourceOverrideSnapshot, ResourceOverrideSnapshot
from hub import Change, Json, Key, labels_of
from placement.stores import Store, Stores
from planning.overrides.applicable import ClusterOverrides
from planning.overrides.matching import Overrides
from planning.overrides.rendering import OverrideError, overridden
from planning.overrides.targets import targets


class BindingOverrides:
    """The overrides of bindings, as the hub has them."""

    def __init__(self, stores: Stores) -> None:
        self._members = stores.members
        self._cluster = stores.cluster_overrides.snapshots
        self._resource = stores.resource_overrides.snapshots

    def on_new(self, callback: Callable[[], None]) -> None:
        """Call back whenever there is an override snapshot that was not there."""

        def told(change: Change) -> None:
            if change.old is None:
                callback()

        self._cluster.subscribe(told)
        self._resource.subscribe(told)

    def apply(self, binding: Binding, resources: Sequence[Json]) -> list[Json]:
        """The objects as the binding's cluster gets them.

        Raises OverrideError, also when an override snapshot is not there.
        """
        cluster = binding.spec.target_cluster
        labels = _labels(self._members, cluster)
        return overridden(resources, self._of(binding), cluster=cluster, labels=labels)

    def _of(self, binding: Binding) -> Overrides:
        spec = binding.spec
        cluster_resource = [
            _found(self._cluster, "", name, f"clusterResourceOverrideSnapshot {name}")
            for name in spec.cluster_resource_override_snapshots
        ]
        resource = [
            _found(
                self._resource,
                each.namespace,
                each.name,
                f"resourceOverrideSnapshot {each.namespace}/{each.name}",
            )
            for each in spec.resource_override_snapshots
        ]
        return Overrides.of(
            map(ClusterResourceOverrideSnapshot.from_wire, cluster_resource),
            map(ResourceOverrideSnapshot.from_wire, resource),
        )


class LatestOverrides:
    """The overrides that apply to a placement at present."""

    def __init__(self, stores: Stores) -> None:
        self._members = stores.members
        self._cluster = stores.cluster_overrides.snapshots
        self._resource = stores.resource_overrides.snapshots

    def on_change(self, callback: Callable[[], None]) -> None:
        """Call back whenever they may be different."""
        self._cluster.subscribe(lambda _: callback())
        self._resource.subscribe(lambda _: callback())

    def on_clusters(
        self, clusters: Sequence[str], placement: Key, *, content: Callable[[], list[Json]]
    ) -> Mapping[str, ClusterOverrides]:
        """What applies to the content on each of the clusters; those without are left out.

        Raises UnreadableError.
        """
        overrides = self._latest(placement[0]).for_placement("/".join(placement))
        if not overrides:
            return {}
        labels = {each: _labels(self._members, each) for each in clusters}
        found = overrides.about(targets(content())).by_cluster(labels)
        return {each.cluster: each for each in found}

    def _latest(self, namespace: str) -> Overrides:
        # A ResourcePlacement has objects of its own namespace only.
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


def _marked(store: Store) -> list[Json]:
    """The latest snapshots of their overrides."""
    mark = names.IS_LATEST_SNAPSHOT
    return [each for each in store.items() if (labels_of(each) or {}).get(mark) == "true"]


def _labels(members: Store, cluster: str) -> dict[str, str]:
    return labels_of(members.get(("", cluster))) or {}


def _found(store: Store, namespace: str, name: str, what: str) -> Json:
    body = store.get((namespace, name))
    if body is None:
        raise OverrideError(f"{what} is not found")
    return body
