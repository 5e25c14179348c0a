"""Staged update runs: rollouts of one snapshot of a placement, stage by stage.

contract: update-runs 1, 2 and 14
"""

import operator
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import Field

from api.applying import ApplyStrategy
from api.base import ApiModel, Conditions, KubernetesObject, NamespacedName, Open, Time
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
    one_of,
)
from api.strategies import StageTaskType, StrategySpec


class RunState(StrEnum):
    """Desired state of a run."""

    INITIALIZE = "Initialize"
    RUN = "Run"
    STOP = "Stop"


class UpdateRunSpec(ApiModel):
    """What to roll out, how, and the desired state of the run."""

    placement_name: Annotated[str, max_length(255), immutable("placementName is immutable")]
    """Name of the placement; for a StagedUpdateRun, one in the same namespace."""
    resource_snapshot_index: Annotated[str, immutable("resourceSnapshotIndex is immutable")] = ""
    """Index of the resource snapshot to roll out; if empty, the hub's current content."""
    staged_rollout_strategy_name: Annotated[
        str, immutable("stagedRolloutStrategyName is immutable")
    ]
    """Name of the strategy; its stages are copied when the run is initialized."""
    state: Annotated[RunState, Defaulted()] = RunState.INITIALIZE
    """Initialize only plans, Run starts or resumes, Stop lets clusters in progress finish."""


# An absent field has no old value, so its own rule cannot see that it is added or removed.
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
    """Progress of the run on one cluster."""

    cluster_name: str
    """Name of the member cluster."""
    resource_override_snapshots: list[NamespacedName] = Field(default_factory=list)
    """Namespaced override snapshots that apply to this cluster."""
    cluster_resource_override_snapshots: list[str] = Field(default_factory=list)
    """Cluster-scoped override snapshots that apply to this cluster."""
    conditions: Conditions = Field(default_factory=list)
    """Started and Succeeded."""


class StageTaskStatus(ApiModel):
    """Progress of the run at one gate."""

    type: Annotated[Open[StageTaskType], one_of(StageTaskType)]
    """What the gate waits for."""
    approval_request_name: str = ""
    """Name of the approval request; only for an Approval."""
    conditions: Conditions = Field(default_factory=list)
    """ApprovalRequestCreated, ApprovalRequestApproved or WaitTimeElapsed."""


class StageStatus(ApiModel):
    """Progress of the run in one stage."""

    stage_name: str
    """Name of the stage."""
    clusters: list[ClusterStatus]
    """Clusters of the stage, in the order in which they are updated."""
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
    """When the stage completed or failed."""
    conditions: Conditions = Field(default_factory=list)
    """Progressing and Succeeded."""


class UpdateRunStatus(ApiModel):
    """The plan made at initialization, and its progress."""

    policy_snapshot_index_used: str = ""
    """Index of the scheduling policy snapshot that the plan was made from."""
    policy_observed_cluster_count: int = Field(default=0, exclude_if=operator.not_)
    """Number of clusters that the placement had picked."""
    resource_snapshot_index_used: str = ""
    """Index of the resource snapshot that is rolled out."""
    applied_strategy: ApplyStrategy | None = None
    """Copy of the placement's apply strategy."""
    staged_update_strategy_snapshot: StrategySpec | None = None
    """Copy of the strategy's stages; later changes to the strategy have no effect."""
    stages_status: list[StageStatus] = Field(default_factory=list)
    """One entry per stage, in order."""
    deletion_stage_status: StageStatus | None = None
    """The last stage, which removes clusters that are no longer picked."""
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
    """Base of the runs of both scopes."""

    spec: Annotated[
        UpdateRunSpec,
        _forbid(RunState.INITIALIZE, RunState.STOP),
        _forbid(RunState.RUN, RunState.INITIALIZE),
        _forbid(RunState.STOP, RunState.INITIALIZE),
        _INDEX_NEITHER_COMES_NOR_GOES,
    ]
    """What to roll out and how."""
    status: UpdateRunStatus = Field(default_factory=UpdateRunStatus)
    """The plan and its progress; written only by fleetgate."""


class ClusterStagedUpdateRun(UpdateRun):
    """A rollout of one snapshot of a ClusterResourcePlacement, stage by stage."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_STAGED_UPDATE_RUN, short_names=("csur",), columns=COLUMNS, rules=(SHORT_NAME,)
    )

    api_version: str = CLUSTER_STAGED_UPDATE_RUN.api_version
    kind: str = CLUSTER_STAGED_UPDATE_RUN.kind


class StagedUpdateRun(UpdateRun):
    """A rollout of one snapshot of a ResourcePlacement in the same namespace, stage by stage."""

    resource: ClassVar[Resource] = Resource(
        STAGED_UPDATE_RUN, short_names=("sur",), columns=COLUMNS, rules=(SHORT_NAME,)
    )

    api_version: str = STAGED_UPDATE_RUN.api_version
    kind: str = STAGED_UPDATE_RUN.kind
