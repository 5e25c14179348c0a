"""Overrides: how placed objects differ from cluster to cluster, and their snapshots.

contract: placement 1 and 9
"""

from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import Field

from api.base import FrozenModel, KubernetesObject
from api.kinds import (
    CLUSTER_RESOURCE_OVERRIDE,
    CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT,
    RESOURCE_OVERRIDE,
    RESOURCE_OVERRIDE_SNAPSHOT,
)
from api.markers import (
    CelRule,
    Defaulted,
    Resource,
    Unchecked,
    max_items,
    min_items,
    value_format,
)
from api.placements import ResourceSelector
from api.scheduling import ClusterSelector


class PlacementScope(StrEnum):
    """Which kind of placement is named."""

    CLUSTER = "Cluster"
    NAMESPACED = "Namespaced"


class PlacementRef(FrozenModel):
    """Names the one placement that an override is for."""

    name: str
    """Name of the placement."""
    scope: Annotated[PlacementScope, Defaulted()] = PlacementScope.CLUSTER
    """Cluster for a ClusterResourcePlacement, Namespaced for a ResourcePlacement."""


class PatchOperation(StrEnum):
    """What is done at a path of an object."""

    ADD = "add"
    REMOVE = "remove"
    REPLACE = "replace"


class JsonPatchOverride(FrozenModel):
    """One operation of a JSON patch (RFC 6902)."""

    op: PatchOperation
    """What is done."""
    path: str
    """Where, as a JSON pointer such as /metadata/labels/tier."""
    value: Annotated[Any, Unchecked()] = None
    """What is put there; none to remove."""


class OverrideType(StrEnum):
    """What a rule does to an object."""

    JSON_PATCH = "JSONPatch"
    DELETE = "Delete"


class OverrideRule(FrozenModel):
    """What happens to the selected objects on some clusters."""

    cluster_selector: ClusterSelector | None = None
    """On which clusters: with no terms on all; without a selector on none."""
    override_type: Annotated[OverrideType, Defaulted()] = OverrideType.JSON_PATCH
    """Change the objects, or leave them out."""
    json_patch_overrides: Annotated[list[JsonPatchOverride], min_items(1), max_items(20)] = Field(
        default_factory=list
    )
    """Changes, applied in order; none when the objects are left out."""


class OverridePolicy(FrozenModel):
    """What happens to the selected objects."""

    override_rules: Annotated[list[OverrideRule], min_items(1), max_items(20)]
    """Rules; every one that matches a cluster is applied, in order."""


class NamedResourceSelector(FrozenModel):
    """Selects one object of the override's own namespace."""

    group: str
    """API group; empty for the core group."""
    version: str
    """API version."""
    kind: str
    """Kind of the object."""
    name: str
    """Name of the object."""


class OverrideSpec(FrozenModel):
    """What the overrides of both kinds have in common."""

    placement: PlacementRef | None = None
    """Only for this placement; without it for every one that places the selected objects."""
    policy: OverridePolicy
    """What happens to the selected objects."""


class ClusterResourceOverrideSpec(OverrideSpec):
    """How cluster-scoped objects, and all in a namespace, differ from cluster to cluster."""

    cluster_resource_selectors: Annotated[list[ResourceSelector], min_items(1), max_items(20)]
    """The objects, by name; a Namespace stands for itself and everything in it."""


class ResourceOverrideSpec(OverrideSpec):
    """How objects of a namespace differ from cluster to cluster."""

    resource_selectors: Annotated[list[NamedResourceSelector], min_items(1), max_items(20)]
    """The objects, by name."""


_PLACEMENT_STAYS = CelRule(
    "has(self.placement) == has(oldSelf.placement)"
    " && (!has(self.placement) || self.placement == oldSelf.placement)",
    "The placement field is immutable",
)
_ONLY_CLUSTER_PLACEMENTS = CelRule(
    "!has(self.spec.placement) || self.spec.placement.scope != 'Namespaced'",
    "clusterResourceOverride placement reference cannot be Namespaced scope",
)


class ClusterResourceOverride(KubernetesObject):
    """Changes cluster-scoped objects, and all in a namespace, on the way to some clusters."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_RESOURCE_OVERRIDE, has_status=False, rules=(_ONLY_CLUSTER_PLACEMENTS,)
    )

    api_version: str = CLUSTER_RESOURCE_OVERRIDE.api_version
    kind: str = CLUSTER_RESOURCE_OVERRIDE.kind
    spec: Annotated[ClusterResourceOverrideSpec, _PLACEMENT_STAYS]
    """Which objects, and what happens to them."""


class ResourceOverride(KubernetesObject):
    """Changes objects of its namespace on the way to some clusters."""

    resource: ClassVar[Resource] = Resource(RESOURCE_OVERRIDE, has_status=False)

    api_version: str = RESOURCE_OVERRIDE.api_version
    kind: str = RESOURCE_OVERRIDE.kind
    spec: Annotated[ResourceOverrideSpec, _PLACEMENT_STAYS]
    """Which objects, and what happens to them."""


OverrideHash = Annotated[str, value_format("byte")]


class ClusterResourceOverrideSnapshotSpec(FrozenModel):
    """The override at the time of the snapshot."""

    override_spec: Annotated[ClusterResourceOverrideSpec, _PLACEMENT_STAYS]
    """The override's spec, copied."""
    override_hash: OverrideHash
    """Hash of the spec, in base 64."""


class ResourceOverrideSnapshotSpec(FrozenModel):
    """The override at the time of the snapshot."""

    override_spec: Annotated[ResourceOverrideSpec, _PLACEMENT_STAYS]
    """The override's spec, copied."""
    override_hash: OverrideHash
    """Hash of the spec, in base 64."""


class ClusterResourceOverrideSnapshot(KubernetesObject):
    """A ClusterResourceOverride at one time."""

    resource: ClassVar[Resource] = Resource(CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT, has_status=False)

    api_version: str = CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT.api_version
    kind: str = CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT.kind
    spec: ClusterResourceOverrideSnapshotSpec
    """The override at the time of the snapshot."""


class ResourceOverrideSnapshot(KubernetesObject):
    """A ResourceOverride at one time."""

    resource: ClassVar[Resource] = Resource(RESOURCE_OVERRIDE_SNAPSHOT, has_status=False)

    api_version: str = RESOURCE_OVERRIDE_SNAPSHOT.api_version
    kind: str = RESOURCE_OVERRIDE_SNAPSHOT.kind
    spec: ResourceOverrideSnapshotSpec
    """The override at the time of the snapshot."""
