"""Approval requests: the objects in which people approve the gates of a run.

contract: update-runs 1 and 4
"""

from typing import Annotated, ClassVar

from pydantic import Field

from api.base import ApiModel, Conditions, FrozenModel, KubernetesObject
from api.kinds import APPROVAL_REQUEST, CLUSTER_APPROVAL_REQUEST
from api.markers import AGE, Column, Resource, condition_column, immutable


class ApprovalRequestSpec(FrozenModel):
    """The gate to approve."""

    parent_stage_rollout: str
    """Name of the run that waits for the approval."""
    target_stage: str
    """Name of the stage before or after which the run waits."""


class ApprovalRequestStatus(ApiModel):
    """Whether the gate has been approved."""

    conditions: Conditions = Field(default_factory=list)
    """Approved, set by a person; ApprovalAccepted, set by fleetgate."""


COLUMNS = (
    Column("Update-Run", ".spec.parentStageRollout"),
    Column("Stage", ".spec.targetStage"),
    condition_column("Approved", "Approved"),
    # KubeFleet has dropped this column; its users' documents still show it (contract decision 4).
    condition_column("ApprovalAccepted", "ApprovalAccepted"),
    AGE,
)


class BaseApprovalRequest(KubernetesObject):
    """Base of the approval requests of both scopes."""

    spec: Annotated[ApprovalRequestSpec, immutable("The spec field is immutable")]
    """The gate to approve."""
    status: ApprovalRequestStatus = Field(default_factory=ApprovalRequestStatus)
    """Approve by setting the condition Approved to True for the current generation."""


class ClusterApprovalRequest(BaseApprovalRequest):
    """A request to approve one gate of a ClusterStagedUpdateRun."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_APPROVAL_REQUEST, short_names=("careq",), columns=COLUMNS
    )

    api_version: str = CLUSTER_APPROVAL_REQUEST.api_version
    kind: str = CLUSTER_APPROVAL_REQUEST.kind


class ApprovalRequest(BaseApprovalRequest):
    """A request to approve one gate of a StagedUpdateRun in the same namespace."""

    resource: ClassVar[Resource] = Resource(
        APPROVAL_REQUEST, short_names=("areq",), columns=COLUMNS
    )

    api_version: str = APPROVAL_REQUEST.api_version
    kind: str = APPROVAL_REQUEST.kind
