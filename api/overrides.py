"""Overrides: changes of placed objects per cluster, and snapshots of overrides.

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
    """Scope of the referenced placement."""

    CLUSTER = "Cluster"
    NAMESPACED = "Namespaced"


class PlacementRef(FrozenModel):
    """A reference to the one placement that an override applies to."""

    name: str
    """Name of the placement."""
    scope: Annotated[PlacementScope, Defaulted()] = PlacementScope.CLUSTER
    """Cluster for a ClusterResourcePlacement, Namespaced for a ResourcePlacement."""


class PatchOperation(StrEnum):
    """Operation of a JSON patch."""

    ADD = "add"
    REMOVE = "remove"
    REPLACE = "replace"


class JsonPatchOverride(FrozenModel):
    """One operation of a JSON patch (RFC 6902)."""

    op: PatchOperation
    """The operation: add, remove or replace."""
    path: str
    """Path of the field, as a JSON pointer such as /metadata/labels/tier."""
    value: Annotated[Any, Unchecked()] = None
    """The new value; absent for remove."""


class OverrideType(StrEnum):
    """What a rule does to an object."""

    JSON_PATCH = "JSONPatch"
    DELETE = "Delete"


class OverrideRule(FrozenModel):
    """A change of the selected objects on some clusters."""

    cluster_selector: ClusterSelector | None = None
    """Clusters that the rule applies to: all if it has no terms, none if it is absent."""
    override_type: Annotated[OverrideType, Defaulted()] = OverrideType.JSON_PATCH
    """JSONPatch changes the objects; Delete leaves them out."""
    json_patch_overrides: Annotated[list[JsonPatchOverride], min_items(1), max_items(20)] = Field(
        default_factory=list
    )
    """Operations of the JSON patch, applied in order; none for type Delete."""


class OverridePolicy(FrozenModel):
    """How the selected objects are changed."""

    override_rules: Annotated[list[OverrideRule], min_items(1), max_items(20)]
    """Rules; all that match a cluster are applied, in order."""


class NamedResourceSelector(FrozenModel):
    """Selector of one object in the override's own namespace."""

    group: str
    """API group; empty for the core group."""
    version: str
    """API version."""
    kind: str
    """Kind of the object."""
    name: str
    """Name of the object."""


class OverrideSpec(FrozenModel):
    """Base of the overrides of both kinds."""

    placement: PlacementRef | None = None
    """The only placement that the override applies to; if absent, it applies to all."""
    policy: OverridePolicy
    """How the selected objects are changed."""


class ClusterResourceOverrideSpec(OverrideSpec):
    """Changes, per cluster, of cluster-scoped objects and everything in a namespace."""

    cluster_resource_selectors: Annotated[list[ResourceSelector], min_items(1), max_items(20)]
    """The objects, by name; a Namespace stands for itself and everything in it."""


class ResourceOverrideSpec(OverrideSpec):
    """Changes, per cluster, of objects of a namespace."""

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
    """An override that changes cluster-scoped objects, or a whole namespace, on some clusters."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_RESOURCE_OVERRIDE, has_status=False, rules=(_ONLY_CLUSTER_PLACEMENTS,)
    )

    api_version: str = CLUSTER_RESOURCE_OVERRIDE.api_version
    kind: str = CLUSTER_RESOURCE_OVERRIDE.kind
    spec: Annotated[ClusterResourceOverrideSpec, _PLACEMENT_STAYS]
    """The objects, and how they are changed."""


class ResourceOverride(KubernetesObject):
    """An override that changes objects of its namespace on some clusters."""

    resource: ClassVar[Resource] = Resource(RESOURCE_OVERRIDE, has_status=False)

    api_version: str = RESOURCE_OVERRIDE.api_version
    kind: str = RESOURCE_OVERRIDE.kind
    spec: Annotated[ResourceOverrideSpec, _PLACEMENT_STAYS]
    """The objects, and how they are changed."""


OverrideHash = Annotated[str, value_format("byte")]


class ClusterResourceOverrideSnapshotSpec(FrozenModel):
    """The override at the time of the snapshot."""

    override_spec: Annotated[ClusterResourceOverrideSpec, _PLACEMENT_STAYS]
    """Copy of the override's spec."""
    override_hash: OverrideHash
    """Hash of the spec, base64-encoded."""


class ResourceOverrideSnapshotSpec(FrozenModel):
    """The override at the time of the snapshot."""

    override_spec: Annotated[ResourceOverrideSpec, _PLACEMENT_STAYS]
    """Copy of the override's spec."""
    override_hash: OverrideHash
    """Hash of the spec, base64-encoded."""


class ClusterResourceOverrideSnapshot(KubernetesObject):
    """A snapshot of a ClusterResourceOverride."""

    resource: ClassVar[Resource] = Resource(CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT, has_status=False)

    api_version: str = CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT.api_version
    kind: str = CLUSTER_RESOURCE_OVERRIDE_SNAPSHOT.kind
    spec: ClusterResourceOverrideSnapshotSpec
    """The override at the time of the snapshot."""


class ResourceOverrideSnapshot(KubernetesObject):
    """A snapshot of a ResourceOverride."""

    resource: ClassVar[Resource] = Resource(RESOURCE_OVERRIDE_SNAPSHOT, has_status=False)

    api_version: str = RESOURCE_OVERRIDE_SNAPSHOT.api_version
    kind: str = RESOURCE_OVERRIDE_SNAPSHOT.kind
    spec: ResourceOverrideSnapshotSpec
    """The override at the time of the snapshot."""
