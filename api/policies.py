"""Scheduling policy snapshots: a placement's policy at one time, and the clusters it picked.

contract: placement 1 and 4
"""

from typing import Annotated, ClassVar

from pydantic import Field

from api.base import ApiModel, Conditions, Int32, Int64, KubernetesObject
from api.kinds import CLUSTER_SCHEDULING_POLICY_SNAPSHOT, SCHEDULING_POLICY_SNAPSHOT
from api.markers import AGE, Column, Required, Resource, max_items, value_format
from api.scheduling import PlacementPolicy


class ClusterScore(ApiModel):
    """How well a cluster fits the policy."""

    affinity_score: Int32 = 0
    """By the preferred affinity terms."""
    priority_score: Int32 = 0
    """By the topology spread constraints."""


class ClusterDecision(ApiModel):
    """Whether a cluster is picked, and why."""

    cluster_name: str
    """Name of the member cluster."""
    selected: bool
    """Whether it is picked."""
    cluster_score: ClusterScore | None = None
    """How well it fits; only for PickAll and PickN."""
    reason: str
    """Why, as a sentence for people."""


class SchedulingPolicySnapshotSpec(ApiModel):
    """The policy at the time of the snapshot."""

    policy: PlacementPolicy | None = None
    """The placement's policy; without it all clusters are picked."""
    policy_hash: Annotated[str, value_format("byte")]
    """Hash of the policy without numberOfClusters, in base 64."""


class SchedulingPolicySnapshotStatus(ApiModel):
    """What the scheduler decided."""

    observed_crp_generation: Annotated[Int64, Required()] = Field(
        default=0, alias="observedCRPGeneration"
    )
    """Generation of the placement that the decision is made for."""
    conditions: Conditions = Field(default_factory=list)
    """Scheduled."""
    target_clusters: Annotated[list[ClusterDecision], max_items(1000)] = Field(default_factory=list)
    """Decisions: all picked clusters, and some of the others."""


COLUMNS = (Column("Gen", ".metadata.generation"), AGE)


class PolicySnapshot(KubernetesObject):
    """What the policy snapshots of both scopes have in common."""

    spec: SchedulingPolicySnapshotSpec
    """The policy at the time of the snapshot."""
    status: SchedulingPolicySnapshotStatus = Field(default_factory=SchedulingPolicySnapshotStatus)
    """What the scheduler decided."""


class ClusterSchedulingPolicySnapshot(PolicySnapshot):
    """The policy of a ClusterResourcePlacement at one time, and the clusters it picked."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_SCHEDULING_POLICY_SNAPSHOT, short_names=("csps",), columns=COLUMNS
    )

    api_version: str = CLUSTER_SCHEDULING_POLICY_SNAPSHOT.api_version
    kind: str = CLUSTER_SCHEDULING_POLICY_SNAPSHOT.kind


class SchedulingPolicySnapshot(PolicySnapshot):
    """The policy of a ResourcePlacement at one time, and the clusters it picked."""

    resource: ClassVar[Resource] = Resource(
        SCHEDULING_POLICY_SNAPSHOT, short_names=("sps",), columns=COLUMNS, other_versions=()
    )

    api_version: str = SCHEDULING_POLICY_SNAPSHOT.api_version
    kind: str = SCHEDULING_POLICY_SNAPSHOT.kind
