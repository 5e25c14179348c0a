"""Reasons and messages of runs, of their stages, clusters and gates, and of approval requests.

contract: update-runs 5
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from api.texts import Text


class RunReason(StrEnum):
    """Reasons of a run's conditions."""

    INITIALIZED = "UpdateRunInitializedSuccessfully"
    INITIALIZE_FAILED = "UpdateRunInitializedFailed"
    PROGRESSING = "UpdateRunProgressing"
    WAITING = "UpdateRunWaiting"
    STUCK = "UpdateRunStuck"
    STOPPING = "UpdateRunStopping"
    STOPPED = "UpdateRunStopped"
    FAILED = "UpdateRunFailed"
    SUCCEEDED = "UpdateRunSucceeded"


class RunMessage(StrEnum):
    """Messages of a run's conditions; the message of a failure is its error."""

    INITIALIZED = "The UpdateRun initialized successfully"
    PROGRESSING = "The update run is making progress"
    STOPPING = (
        "The update run is the process of stopping, waiting for all the updating/deleting"
        " clusters to finish updating before completing the stop process"
    )
    STOPPED = "The update run has been stopped"
    ABORTED = "The stages are aborted due to a non-recoverable error"
    COMPLETED = "All stages are completed"
    SUCCEEDED = "All stages are completed successfully"


def waiting_before(stage: str) -> str:
    """Return the message of Progressing while a run waits at a gate before a stage."""
    return f"The updateRun is waiting for before-stage tasks in stage {stage} to complete"


def waiting_after(stage: str) -> str:
    """Return the message of Progressing while a run waits at a gate after a stage."""
    return f"The updateRun is waiting for after-stage tasks in stage {stage} to complete"


STUCK_CLUSTERS_NAMED: Final = 3
"""How many stuck clusters a message names; an ellipsis stands for the others."""


def clusters_named(clusters: Sequence[str]) -> str:
    """List clusters as a run's message names them: the first few."""
    more = "..." if len(clusters) > STUCK_CLUSTERS_NAMED else ""
    return ", ".join(clusters[:STUCK_CLUSTERS_NAMED]) + more


STUCK: Final = Text(
    "The updateRun is stuck waiting for {clusters} cluster(s) in stage {stage} to finish updating, "
    "please check placement status for potential errors"
)
"""Message of Progressing while clusters are stuck."""


def stuck(clusters: Sequence[str], *, stage: str) -> str:
    """Return the message of Progressing while clusters, in stage order, are stuck."""
    return STUCK.fill(clusters=clusters_named(clusters), stage=stage)


def named_as_stuck(message: str) -> list[str]:
    """Return the clusters that a message of Progressing names as stuck: the first few."""
    found = STUCK.read(message)
    return found["clusters"].removesuffix("...").split(", ") if found else []


class StageReason(StrEnum):
    """Reasons of a stage's conditions."""

    STARTED = "StageUpdatingStarted"
    WAITING = "StageUpdatingWaiting"
    STOPPING = "StageUpdatingStopping"
    STOPPED = "StageUpdatingStopped"
    FAILED = "StageUpdatingFailed"
    SUCCEEDED = "StageUpdatingSucceeded"
    SKIPPED = "StageUpdatingSkippedNoClusters"


class StageMessage(StrEnum):
    """Messages of a stage's conditions; the message of a failure is its error."""

    STARTED = "Clusters in the stage started updating"
    WAITING_BEFORE = "Not all before-stage tasks are completed, waiting for approval"
    WAITING_AFTER = (
        "All clusters in the stage are updated, waiting for after-stage tasks to complete"
    )
    STOPPING = (
        "Waiting for all the updating clusters to finish updating before completing the stop"
        " process"
    )
    STOPPED = (
        "All the updating clusters have finished updating, the stage is now stopped, waiting to"
        " be resumed"
    )
    ABORTED = "Stage update aborted due to a non-recoverable error"
    COMPLETED = "All clusters in the stage are updated and after-stage tasks are completed"
    SUCCEEDED = "Stage update completed successfully"
    SKIPPED = "Stage skipped because it has no clusters"


class ClusterReason(StrEnum):
    """Reasons of a cluster's conditions in a run."""

    STARTED = "ClusterUpdatingStarted"
    SUCCEEDED = "ClusterUpdatingSucceeded"
    FAILED = "ClusterUpdatingFailed"


class ClusterMessage(StrEnum):
    """Messages of a cluster's conditions in a run; the message of a failure is its error."""

    STARTED = "Cluster update started"
    SUCCEEDED = "Cluster update completed successfully"


class TaskReason(StrEnum):
    """Reasons of a gate's conditions."""

    CREATED = "StageTaskApprovalRequestCreated"
    APPROVED = "StageTaskApprovalRequestApproved"
    WAIT_ELAPSED = "AfterStageTaskWaitTimeElapsed"


class TaskMessage(StrEnum):
    """Messages of a gate's conditions."""

    CREATED = "ApprovalRequest object is created"
    APPROVED = "ApprovalRequest object is approved"
    WAIT_ELAPSED = "Wait time elapsed"


class ApprovalReason(StrEnum):
    """Reasons of an approval request's conditions."""

    ACCEPTED = "ApprovalRequestApprovalAccepted"
    CLUSTER_APPROVED = "ClusterApprovalRequestApproved"
    """Written by the command line to approve a ClusterApprovalRequest."""
    NAMESPACED_APPROVED = "ApprovalRequestApproved"
    """Written by the command line to approve an ApprovalRequest."""


class ApprovalMessage(StrEnum):
    """Messages of an approval request's conditions."""

    ACCEPTED = "The approval request has been approved and cannot be reverted"
    CLUSTER_APPROVED = "ClusterApprovalRequest has been approved"
    NAMESPACED_APPROVED = "ApprovalRequest has been approved"
