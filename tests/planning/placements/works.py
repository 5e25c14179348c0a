"""Sample bindings and snapshots, and the Works rendered from them."""

from typing import Any

from api.base import OwnerReference
from api.bindings import Binding
from planning.placements import rendering
from planning.placements.rendering import BindingOwner, WorkChanges
from planning.placements.snapshotting import bodies

Json = dict[str, Any]
OWNER = OwnerReference(api_version="v1", kind="P", name="p", uid="u")
CLUSTER = BindingOwner("p", "")
NAMESPACED = BindingOwner("p", "app")
STRATEGY = {
    "type": "ServerSideApply",
    "serverSideApplyConfig": {"force": True},
    "comparisonOption": "PartialComparison",
    "whenToApply": "Always",
    "whenToTakeOver": "Always",
}


def config_map(name: str, size: int = 1) -> Json:
    metadata = {"name": name, "namespace": "app"}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {"k": "x" * size},
    }


def snapshots(*resources: Json, index: int = 0) -> list[Json]:
    return bodies(resources, placement="p", namespace="", owner=OWNER, index=index)


def binding(index: int = 0, **spec: Any) -> Binding:
    return Binding.from_wire(
        {
            "apiVersion": "v1",
            "kind": "B",
            "metadata": {"name": "p-a-0", "generation": 2},
            "spec": {
                "state": "Bound",
                "resourceSnapshotName": f"p-{index}-snapshot",
                "schedulingPolicySnapshotName": "p-0",
                "targetCluster": "a",
                "clusterDecision": {"clusterName": "a", "selected": True, "reason": ""},
                "applyStrategy": STRATEGY,
            }
            | spec,
        }
    )


def changes(
    of: Binding, stored: list[Json], works: list[Json] | None = None, source: BindingOwner = CLUSTER
) -> WorkChanges:
    return rendering.changes(of, source, snapshots=stored, works=works or [])
