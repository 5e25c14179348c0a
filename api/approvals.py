"""Approval requests: the objects by which people let a run through a gate.

contract: update-runs 1 and 4
"""

from typing import Annotated, ClassVar

from pydantic import Field

from api.base import ApiModel, Conditions, FrozenModel, KubernetesObject
from api.kinds import APPROVAL_REQUEST, CLUSTER_APPROVAL_REQUEST
from api.markers import AGE, Column, Resource, condition_column, immutable


class ApprovalRequestSpec(FrozenModel):
    """Which gate the approval opens."""

    parent_stage_rollout: str
    """Name of the run that waits."""
    target_stage: str
    """Name of the stage that it waits before or after."""


class ApprovalRequestStatus(ApiModel):
    """Whether the gate was opened."""

    conditions: Conditions = Field(default_factory=list)
    """Approved, set by a person; ApprovalAccepted, set by fleetgate."""


COLUMNS = (
    Column("Update-Run", ".spec.parentStageRollout"),
    Column("Stage", ".spec.targetStage"),
    condition_column("Approved", "Approved"),
    # KubeFleet has dropped this one, its users' documents still show it (decision 4).
    condition_column("ApprovalAccepted", "ApprovalAccepted"),
    AGE,
)


class BaseApprovalRequest(KubernetesObject):
    """What the approval requests of both scopes have in common."""

    spec: Annotated[ApprovalRequestSpec, immutable("The spec field is immutable")]
    """Which gate the approval opens."""
    status: ApprovalRequestStatus = Field(default_factory=ApprovalRequestStatus)
    """Approve by setting the condition Approved to True for the current generation."""


class ClusterApprovalRequest(BaseApprovalRequest):
    """Asks people to let a ClusterStagedUpdateRun through a gate."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_APPROVAL_REQUEST, short_names=("careq",), columns=COLUMNS
    )

    api_version: str = CLUSTER_APPROVAL_REQUEST.api_version
    kind: str = CLUSTER_APPROVAL_REQUEST.kind


class ApprovalRequest(BaseApprovalRequest):
    """Asks people to let a StagedUpdateRun of the same namespace through a gate."""

    resource: ClassVar[Resource] = Resource(
        APPROVAL_REQUEST, short_names=("areq",), columns=COLUMNS
    )

    api_version: str = APPROVAL_REQUEST.api_version
    kind: str = APPROVAL_REQUEST.kind
