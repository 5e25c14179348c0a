"""Scheduling policy snapshots: a placement's policy at one point in time, and its decisions.

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
    """Score from the preferred affinity terms."""
    priority_score: Int32 = 0
    """Score from the topology spread constraints."""


class ClusterDecision(ApiModel):
    """Whether a cluster is picked, and why."""

    cluster_name: str
    """Name of the member cluster."""
    selected: bool
    """Whether the cluster is picked."""
    cluster_score: ClusterScore | None = None
    """How well the cluster fits; only for PickAll and PickN."""
    reason: str
    """Reason for the decision, as a sentence for people."""


class SchedulingPolicySnapshotSpec(ApiModel):
    """The policy at the time of the snapshot."""

    policy: PlacementPolicy | None = None
    """The placement's policy; if absent, all clusters are picked."""
    policy_hash: Annotated[str, value_format("byte")]
    """Hash of the policy without numberOfClusters, base64-encoded."""


class SchedulingPolicySnapshotStatus(ApiModel):
    """What the scheduler decided."""

    observed_crp_generation: Annotated[Int64, Required()] = Field(
        default=0, alias="observedCRPGeneration"
    )
    """Generation of the placement that the decision was made for."""
    conditions: Conditions = Field(default_factory=list)
    """The condition Scheduled."""
    target_clusters: Annotated[list[ClusterDecision], max_items(1000)] = Field(default_factory=list)
    """Decisions on all picked clusters, and on some of the others."""


COLUMNS = (Column("Gen", ".metadata.generation"), AGE)


class PolicySnapshot(KubernetesObject):
    """Base of the policy snapshots of both scopes."""

    spec: SchedulingPolicySnapshotSpec
    """The policy at the time of the snapshot."""
    status: SchedulingPolicySnapshotStatus = Field(default_factory=SchedulingPolicySnapshotStatus)
    """What the scheduler decided."""


class ClusterSchedulingPolicySnapshot(PolicySnapshot):
    """A snapshot of a ClusterResourcePlacement's policy, and the clusters that it picked."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_SCHEDULING_POLICY_SNAPSHOT, short_names=("csps",), columns=COLUMNS
    )

    api_version: str = CLUSTER_SCHEDULING_POLICY_SNAPSHOT.api_version
    kind: str = CLUSTER_SCHEDULING_POLICY_SNAPSHOT.kind


class SchedulingPolicySnapshot(PolicySnapshot):
    """A snapshot of a ResourcePlacement's policy, and the clusters that it picked."""

    resource: ClassVar[Resource] = Resource(
        SCHEDULING_POLICY_SNAPSHOT, short_names=("sps",), columns=COLUMNS, other_versions=()
    )

    api_version: str = SCHEDULING_POLICY_SNAPSHOT.api_version
    kind: str = SCHEDULING_POLICY_SNAPSHOT.kind
