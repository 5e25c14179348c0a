"""Outcomes of single objects on a member: failed, drifted, or different from the hub.

contract: placement 6 and 7
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from api.base import ApiModel, Condition, Int64, Time
from api.markers import Defaulted, max_items


class EnvelopeType(StrEnum):
    """Kind of an envelope."""

    CONFIG_MAP = "ConfigMap"
    CLUSTER_RESOURCE_ENVELOPE = "ClusterResourceEnvelope"
    RESOURCE_ENVELOPE = "ResourceEnvelope"


class EnvelopeIdentifier(ApiModel):
    """A reference to the envelope that an object came in."""

    name: str
    """Name of the envelope."""
    namespace: str = ""
    """Namespace of the envelope; empty for a cluster-scoped one."""
    type: Annotated[EnvelopeType, Defaulted()] = EnvelopeType.CONFIG_MAP
    """Kind of the envelope."""


class ResourceIdentifier(ApiModel):
    """A reference to a selected object."""

    group: str = ""
    """API group; empty for the core group."""
    version: str
    """API version."""
    kind: str
    """Kind of the object."""
    name: str
    """Name of the object."""
    namespace: str = ""
    """Namespace of the object; empty for a cluster-scoped one."""
    envelope: EnvelopeIdentifier | None = None
    """The envelope that the object came in, if any."""


class PatchDetail(ApiModel):
    """One difference between the hub and the member."""

    path: str
    """Path of the field, as a JSON pointer."""
    value_in_member: str = ""
    """Value on the member; empty if absent."""
    value_in_hub: str = ""
    """Value on the hub; empty if absent."""


class FailedResourcePlacement(ResourceIdentifier):
    """An object that could not be applied, or is not available."""

    condition: Condition
    """Condition that says what is wrong."""


class DriftedResourcePlacement(ResourceIdentifier):
    """An object that was changed on the member after it was applied."""

    observation_time: Time
    """When the drift was last seen."""
    target_cluster_observed_generation: Int64
    """Generation of the object on the member."""
    first_drifted_observed_time: Time
    """When the drift was first seen."""
    observed_drifts: list[PatchDetail] = Field(default_factory=list)
    """Fields that drifted."""


class DiffedResourcePlacement(ResourceIdentifier):
    """An object that differs between the hub and the member."""

    observation_time: Time
    """When the difference was last seen."""
    target_cluster_observed_generation: Int64 | None = None
    """Generation of the object on the member; absent if the object does not exist."""
    first_diffed_observed_time: Time
    """When the difference was first seen."""
    observed_diffs: list[PatchDetail] = Field(default_factory=list)
    """Fields that differ."""


# At most 100 of each are listed: an object has to fit into etcd.
FailedPlacements = Annotated[list[FailedResourcePlacement], max_items(100)]
DriftedPlacements = Annotated[list[DriftedResourcePlacement], max_items(100)]
DiffedPlacements = Annotated[list[DiffedResourcePlacement], max_items(100)]
