"""Staged update runs: one rollout of one version of a placement, stage by stage.

contract: update-runs 1, 2 and 14
"""

import operator
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import Field

from api.applying import ApplyStrategy
from api.base import ApiModel, Conditions, KubernetesObject, NamespacedName, Time
from api.kinds import CLUSTER_STAGED_UPDATE_RUN, STAGED_UPDATE_RUN
from api.markers import (
    AGE,
    CelRule,
    Column,
    Defaulted,
    Resource,
    condition_column,
    immutable,
    max_items,
    max_length,
)
from api.strategies import StageTaskType, StrategySpec


class RunState(StrEnum):
    """What a person wants the run to do."""

    INITIALIZE = "Initialize"
    RUN = "Run"
    STOP = "Stop"


class UpdateRunSpec(ApiModel):
    """Which placement is rolled out, in which version, how, and whether it may go on."""

    placement_name: Annotated[str, max_length(255), immutable("placementName is immutable")]
    """Name of the placement; for a StagedUpdateRun in the same namespace."""
    resource_snapshot_index: Annotated[str, immutable("resourceSnapshotIndex is immutable")] = ""
    """Index of the resource snapshot to roll out; without it the hub's content as it is now."""
    staged_rollout_strategy_name: Annotated[
        str, immutable("stagedRolloutStrategyName is immutable")
    ]
    """Name of the strategy; its stages are copied when the run is initialized."""
    state: Annotated[RunState, Defaulted()] = RunState.INITIALIZE
    """Initialize only plans, Run starts or goes on, Stop lets clusters in flight finish."""


# A field that is absent has no old value, so its own rule cannot see it come or go.
_INDEX_NEITHER_COMES_NOR_GOES = CelRule(
    "has(self.resourceSnapshotIndex) == has(oldSelf.resourceSnapshotIndex)"
    " || (has(self.resourceSnapshotIndex) ? self : oldSelf).resourceSnapshotIndex == ''",
    "resourceSnapshotIndex is immutable",
)


def _forbid(old: RunState, new: RunState) -> CelRule:
    return CelRule(
        f"!(oldSelf.state == '{old}' && self.state == '{new}')",
        f"invalid state transition: cannot transition from {old} to {new}",
    )


class ClusterStatus(ApiModel):
    """Where the run is with one cluster."""

    cluster_name: str
    """Name of the member cluster."""
    resource_override_snapshots: list[NamespacedName] = Field(default_factory=list)
    """Namespaced override snapshots that apply to this cluster."""
    cluster_resource_override_snapshots: list[str] = Field(default_factory=list)
    """Cluster-scoped override snapshots that apply to this cluster."""
    conditions: Conditions = Field(default_factory=list)
    """Started and Succeeded."""


class StageTaskStatus(ApiModel):
    """Where the run is with one gate."""

    type: StageTaskType
    """What the gate waits for."""
    approval_request_name: str = ""
    """Name of the approval request; only for an Approval."""
    conditions: Conditions = Field(default_factory=list)
    """ApprovalRequestCreated, ApprovalRequestApproved or WaitTimeElapsed."""


class StageStatus(ApiModel):
    """Where the run is with one stage."""

    stage_name: str
    """Name of the stage."""
    clusters: list[ClusterStatus]
    """Clusters of the stage, in the order of their update."""
    after_stage_task_status: Annotated[list[StageTaskStatus], max_items(2)] = Field(
        default_factory=list
    )
    """Gates after the stage."""
    before_stage_task_status: Annotated[list[StageTaskStatus], max_items(1)] = Field(
        default_factory=list
    )
    """Gates before the stage."""
    start_time: Time | None = None
    """When the first cluster of the stage was started."""
    end_time: Time | None = None
    """When the stage was done or failed."""
    conditions: Conditions = Field(default_factory=list)
    """Progressing and Succeeded."""


class UpdateRunStatus(ApiModel):
    """The plan made at initialization, and how far it is."""

    policy_snapshot_index_used: str = ""
    """Index of the scheduling policy snapshot that the plan is made from."""
    policy_observed_cluster_count: int = Field(default=0, exclude_if=operator.not_)
    """How many clusters the placement had picked."""
    resource_snapshot_index_used: str = ""
    """Index of the resource snapshot that is rolled out."""
    applied_strategy: ApplyStrategy | None = None
    """The placement's apply strategy, copied."""
    staged_update_strategy_snapshot: StrategySpec | None = None
    """The strategy's stages, copied; later changes of the strategy have no effect."""
    stages_status: list[StageStatus] = Field(default_factory=list)
    """One entry a stage, in order."""
    deletion_stage_status: StageStatus | None = None
    """The stage after all others, which removes clusters that are no longer picked."""
    conditions: Conditions = Field(default_factory=list)
    """Initialized, Progressing and Succeeded."""


COLUMNS = (
    Column("Placement", ".spec.placementName"),
    Column("Resource-Snapshot-Index", ".spec.resourceSnapshotIndex"),
    Column("Policy-Snapshot-Index", ".status.policySnapshotIndexUsed"),
    condition_column("Initialized", "Initialized"),
    condition_column("Progressing", "Progressing"),
    condition_column("Succeeded", "Succeeded"),
    AGE,
    Column("Strategy", ".spec.stagedRolloutStrategyName", priority=1),
)
SHORT_NAME = CelRule("size(self.metadata.name) < 64", "metadata.name max length is 63")


class UpdateRun(KubernetesObject):
    """What the runs of both scopes have in common."""

    spec: Annotated[
        UpdateRunSpec,
        _forbid(RunState.INITIALIZE, RunState.STOP),
        _forbid(RunState.RUN, RunState.INITIALIZE),
        _forbid(RunState.STOP, RunState.INITIALIZE),
        _INDEX_NEITHER_COMES_NOR_GOES,
    ]
    """What to roll out and how."""
    status: UpdateRunStatus = Field(default_factory=UpdateRunStatus)
    """The plan and how far it is; written by fleetgate only."""


class ClusterStagedUpdateRun(UpdateRun):
    """Rolls out one version of a ClusterResourcePlacement, stage by stage."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_STAGED_UPDATE_RUN, short_names=("csur",), columns=COLUMNS, rules=(SHORT_NAME,)
    )

    api_version: str = CLUSTER_STAGED_UPDATE_RUN.api_version
    kind: str = CLUSTER_STAGED_UPDATE_RUN.kind


class StagedUpdateRun(UpdateRun):
    """Rolls out one version of a ResourcePlacement of the same namespace, stage by stage."""

    resource: ClassVar[Resource] = Resource(
        STAGED_UPDATE_RUN, short_names=("sur",), columns=COLUMNS, rules=(SHORT_NAME,)
    )

    api_version: str = STAGED_UPDATE_RUN.api_version
    kind: str = STAGED_UPDATE_RUN.kind
