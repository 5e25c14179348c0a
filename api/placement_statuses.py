"""Copies of a placement's status, for people who can read only one namespace.

contract: placement 1 and 7.7
"""

from typing import ClassVar

from api.base import KubernetesObject, Time
from api.kinds import CLUSTER_RESOURCE_PLACEMENT_STATUS
from api.markers import AGE, Column, Resource
from api.placements import PlacementStatus


class ClusterResourcePlacementStatus(KubernetesObject):
    """A copy of a ClusterResourcePlacement's status, in the namespace that it places."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_RESOURCE_PLACEMENT_STATUS,
        short_names=("crps",),
        has_status=False,
        columns=(
            Column("Resource-Index", ".sourceStatus.observedResourceIndex"),
            Column("Last-Updated", ".lastUpdatedTime"),
            AGE,
        ),
    )

    api_version: str = CLUSTER_RESOURCE_PLACEMENT_STATUS.api_version
    kind: str = CLUSTER_RESOURCE_PLACEMENT_STATUS.kind
    source_status: PlacementStatus
    """Status of the placement with the same name."""
    last_updated_time: Time
    """When the status was copied."""
