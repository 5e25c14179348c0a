"""Bindings: one placement on one member cluster, and the snapshot that belongs there.

contract: placement 1 and 6
"""

from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from api.applying import ApplyStrategy
from api.base import ApiModel, Conditions, KubernetesObject, NamespacedName, Open
from api.kinds import CLUSTER_RESOURCE_BINDING, RESOURCE_BINDING
from api.markers import AGE, Resource, condition_column
from api.outcomes import DiffedPlacements, DriftedPlacements, FailedPlacements
from api.policies import ClusterDecision


class BindingState(StrEnum):
    """Lifecycle state of a binding."""

    SCHEDULED = "Scheduled"
    BOUND = "Bound"
    UNSCHEDULED = "Unscheduled"


class BindingSpec(ApiModel):
    """The snapshot of a placement that belongs on a member cluster."""

    state: Open[BindingState]
    """Scheduled: picked, nothing placed yet; Bound: placed; Unscheduled: no longer picked."""
    resource_snapshot_name: str
    """Name of the resource snapshot that belongs on the cluster; empty if none yet."""
    resource_override_snapshots: list[NamespacedName] = Field(default_factory=list)
    """Namespaced override snapshots to apply, in order."""
    cluster_resource_override_snapshots: list[str] = Field(default_factory=list)
    """Cluster-scoped override snapshots to apply, in order."""
    scheduling_policy_snapshot_name: str
    """Name of the policy snapshot that picked the cluster."""
    target_cluster: str
    """Name of the member cluster."""
    cluster_decision: ClusterDecision
    """Why the cluster was picked."""
    apply_strategy: ApplyStrategy | None = None
    """How objects are applied to the member."""


class BindingStatus(ApiModel):
    """Progress of the snapshot on the cluster."""

    failed_placements: FailedPlacements = Field(default_factory=list)
    """Objects that could not be applied or are not available."""
    drifted_placements: DriftedPlacements = Field(default_factory=list)
    """Objects that were changed on the member."""
    diffed_placements: DiffedPlacements = Field(default_factory=list)
    """Objects that differ between the hub and the member."""
    conditions: Conditions = Field(default_factory=list)
    """RolloutStarted, Overridden, WorkSynchronized, Applied, Available or DiffReported."""


COLUMNS = (
    condition_column("WorkSynchronized", "WorkSynchronized"),
    condition_column("ResourcesApplied", "Applied"),
    condition_column("ResourceAvailable", "Available", wide=True),
    AGE,
)


class Binding(KubernetesObject):
    """Base of the bindings of both scopes."""

    spec: BindingSpec
    """The snapshot that belongs on the cluster."""
    status: BindingStatus = Field(default_factory=BindingStatus)
    """Progress of the snapshot on the cluster."""


class ClusterResourceBinding(Binding):
    """The binding of a ClusterResourcePlacement to one member cluster."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_RESOURCE_BINDING, short_names=("crb",), columns=COLUMNS
    )

    api_version: str = CLUSTER_RESOURCE_BINDING.api_version
    kind: str = CLUSTER_RESOURCE_BINDING.kind


class ResourceBinding(Binding):
    """The binding of a ResourcePlacement to one member cluster."""

    resource: ClassVar[Resource] = Resource(
        RESOURCE_BINDING, short_names=("rb",), columns=COLUMNS, other_versions=()
    )

    api_version: str = RESOURCE_BINDING.api_version
    kind: str = RESOURCE_BINDING.kind
