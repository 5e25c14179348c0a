"""Rollout reports: what the rules of a policy came to in one run.

A report has the name of its run and is owned by it. Only the engine writes it. It lists what is
out of the ordinary and counts the rest, so that the report of 1,000 clusters stays small.

policies: 2.2
"""

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from api.base import ApiModel, Conditions, Int32, KubernetesObject, Time
from api.kinds import CLUSTER_ROLLOUT_REPORT, ROLLOUT_REPORT
from api.markers import AGE, Column, Resource, Unchecked


class ClusterOutcome(StrEnum):
    """What happened to a cluster, other than being updated at the first attempt."""

    STUCK = "Stuck"
    RETRYING = "Retrying"
    RECOVERED = "Recovered"
    """It was updated after all, at a later attempt or after it had timed out."""
    FAILED = "Failed"
    SKIPPED = "Skipped"
    LEFT = "Left"
    """It is no longer picked, or no longer selected by its stage."""
    JOINED = "Joined"
    NOT_UPDATED = "NotUpdated"
    """It was picked too late, or no stage selects it."""
    NOT_ROLLED_BACK = "NotRolledBack"
    """The run was rolled back, but the cluster stays as it is: before the run it had another
    version than most clusters, or none."""


class RollbackCause(StrEnum):
    """Why a run was rolled back."""

    FAILURES = "Failures"
    """More clusters failed than the budget allows."""


class PolicyField(ApiModel):
    """One field of the policy that applies to the run, and where it comes from."""

    name: str
    """Path of the field, such as clusters.timeout."""
    stage: str = ""
    """Stage that the value applies to; empty for all stages or for the run as a whole."""
    value: Annotated[Any, Unchecked()]
    """Value of the field."""
    policy: str = ""
    """Name of the policy that sets it; empty if fleetgate does, for a rollback."""
    generation: Int32 = 0
    """metadata.generation of the policy when it was read."""


class QueuePosition(ApiModel):
    """Place of a run that waits for others of its placement."""

    position: Int32
    """1 for the run that is next."""
    behind: str
    """Name of the run that it waits for."""


class StageReport(ApiModel):
    """What a stage came to."""

    name: str
    """Name of the stage."""
    failed: Int32 = 0
    """How many clusters of the stage count as failed."""
    most: Int32 | None = None
    """How many may fail; empty without a budget."""
    accepted: Int32 = 0
    """How many failures a person accepted by continuing the run."""


class ClusterReport(ApiModel):
    """A cluster that was not simply updated."""

    name: str
    """Name of the member cluster."""
    stage: str = ""
    """Stage of the cluster; empty if no stage selects it."""
    outcome: ClusterOutcome
    """What happened to it."""
    attempt: Int32 = 1
    """How often it was handed out."""
    since: Time
    """When that happened."""
    reason: str = ""
    """Why, as one word for programs."""
    message: str = ""
    """Why, as a sentence for people."""
    by: str = ""
    """Who decided so; empty if no one did."""
    comment: str = ""
    """What they gave as their reason."""
    previous_index: str = ""
    """Index of the snapshot that the cluster had before this run changed it; empty if it had none,
    or one that is gone."""


class RollbackReport(ApiModel):
    """How this run is connected with the run that rolls it back."""

    run: str = ""
    """Name of the run that rolls this one back."""
    cause: RollbackCause | None = None
    """Why it is rolled back."""
    of: str = ""
    """Name of the run that this one rolls back."""


class RolloutReportStatus(ApiModel):
    """What the rules of the policy came to."""

    policy: list[PolicyField] = Field(default_factory=list)
    """The policy that applies to the run, as it was when the run was planned."""
    queue: QueuePosition | None = None
    """Place in the queue; only while the run waits for others."""
    stages: list[StageReport] = Field(default_factory=list)
    """Stages in which clusters failed or that have a budget."""
    clusters: list[ClusterReport] = Field(default_factory=list)
    """Clusters that were not simply updated, in the order of the stages."""
    not_listed: Int32 = 0
    """How many more of them there are: a report lists as many as fit into 200 KiB."""
    failed: Int32 = 0
    """How many clusters of the run count as failed."""
    skipped: Int32 = 0
    """How many clusters of the run were skipped."""
    accepted: Int32 = 0
    """How many failures a person accepted by continuing the run."""
    rollback: RollbackReport | None = None
    """How the run is connected with a rollback."""
    waiting_for: str = ""
    """What the run waits for, in a few words; empty while it makes progress."""
    expected_end: Time | None = None
    """When the run is likely to end, by earlier runs of the placement."""
    conditions: Conditions = Field(default_factory=list)
    """Paused, while more clusters have failed than the policy allows; otherwise none."""


COLUMNS: Final = (
    Column("Run", ".metadata.name"),
    Column("Failed", ".status.failed", type="integer"),
    Column("Skipped", ".status.skipped", type="integer"),
    Column("Waiting-For", ".status.waitingFor"),
    Column("Expected-End", ".status.expectedEnd"),
    AGE,
)


class BaseRolloutReport(KubernetesObject):
    """What the reports of both scopes have in common."""

    status: RolloutReportStatus = Field(default_factory=RolloutReportStatus)
    """What the rules of the policy came to; written by fleetgate only."""


class ClusterRolloutReport(BaseRolloutReport):
    """What the rules of a policy came to in the ClusterStagedUpdateRun of the same name."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_ROLLOUT_REPORT, short_names=("crr",), columns=COLUMNS, other_versions=()
    )

    api_version: str = CLUSTER_ROLLOUT_REPORT.api_version
    kind: str = CLUSTER_ROLLOUT_REPORT.kind


class RolloutReport(BaseRolloutReport):
    """What the rules of a policy came to in the StagedUpdateRun of the same name."""

    resource: ClassVar[Resource] = Resource(
        ROLLOUT_REPORT, short_names=("rrep",), columns=COLUMNS, other_versions=()
    )

    api_version: str = ROLLOUT_REPORT.api_version
    kind: str = ROLLOUT_REPORT.kind
