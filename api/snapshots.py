"""Resource snapshots: the content of a placement at one point in time.

contract: placement 1 and 5
"""

from typing import ClassVar

from pydantic import Field

from api.base import ApiModel, Conditions, KubernetesObject, Manifest
from api.kinds import CLUSTER_RESOURCE_SNAPSHOT, RESOURCE_SNAPSHOT
from api.markers import AGE, Column, Resource


class ResourceSnapshotSpec(ApiModel):
    """The content of the snapshot."""

    selected_resources: list[Manifest]
    """The selected objects, without the fields that are specific to the hub."""


class ResourceSnapshotStatus(ApiModel):
    """State of the snapshot."""

    conditions: Conditions = Field(default_factory=list)
    """Conditions of the snapshot."""


COLUMNS = (Column("Gen", ".metadata.generation"), AGE)


class BaseResourceSnapshot(KubernetesObject):
    """Base of the resource snapshots of both scopes."""

    spec: ResourceSnapshotSpec
    """The content of the snapshot."""
    status: ResourceSnapshotStatus = Field(default_factory=ResourceSnapshotStatus)
    """State of the snapshot."""


class ClusterResourceSnapshot(BaseResourceSnapshot):
    """A snapshot of the content of a ClusterResourcePlacement, or a part of one."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_RESOURCE_SNAPSHOT, short_names=("crs",), columns=COLUMNS
    )

    api_version: str = CLUSTER_RESOURCE_SNAPSHOT.api_version
    kind: str = CLUSTER_RESOURCE_SNAPSHOT.kind


class ResourceSnapshot(BaseResourceSnapshot):
    """A snapshot of the content of a ResourcePlacement, or a part of one."""

    resource: ClassVar[Resource] = Resource(
        RESOURCE_SNAPSHOT, short_names=("rs",), columns=COLUMNS, other_versions=()
    )

    api_version: str = RESOURCE_SNAPSHOT.api_version
    kind: str = RESOURCE_SNAPSHOT.kind
