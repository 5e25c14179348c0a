"""Finds the override snapshots that a binding names, and changes its content by them.

contract: placement 6 (missing override snapshots), 9
"""

from collections.abc import Callable, Sequence

from api.bindings import Binding
from api.overrides import ClusterResourceOverrideSnapshot, ResourceOverrideSnapshot
from hub import Change, Json
from placement.stores import Store, Stores
from planning.override_rendering import OverrideError, overridden
from planning.overriding import Overrides


class BindingOverrides:
    """The overrides of bindings, as the hub has them."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    def on_new(self, callback: Callable[[], None]) -> None:
        """Call back whenever there is an override snapshot that was not there."""

        def told(change: Change) -> None:
            if change.old is None:
                callback()

        self._stores.cluster_overrides.subscribe(told)
        self._stores.overrides.subscribe(told)

    def apply(self, binding: Binding, resources: Sequence[Json]) -> list[Json]:
        """The objects as the binding's cluster gets them.

        Raises OverrideError, also when an override snapshot is not there.
        """
        cluster = binding.spec.target_cluster
        member = self._stores.members.get(("", cluster)) or {"metadata": {}}
        labels = member["metadata"].get("labels", {})
        return overridden(resources, self._of(binding), cluster=cluster, labels=labels)

    def _of(self, binding: Binding) -> Overrides:
        stores, spec = self._stores, binding.spec
        cluster_resource = [
            _found(stores.cluster_overrides, "", name, f"clusterResourceOverrideSnapshot {name}")
            for name in spec.cluster_resource_override_snapshots
        ]
        resource = [
            _found(
                stores.overrides,
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


def _found(store: Store, namespace: str, name: str, what: str) -> Json:
    body = store.get((namespace, name))
    if body is None:
        raise OverrideError(f"{what} is not found")
    return body
