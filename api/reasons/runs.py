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
    PAUSED = "UpdateRunPaused"
    """By a rollout policy: more clusters failed than it allows."""
    ROLLING_BACK = "UpdateRunRollingBack"
    """By a rollout policy: another run is about to take the clusters back."""
    QUEUED = "UpdateRunQueued"
    """By a rollout policy: another run of the placement is ahead."""
    ADMISSION_REQUESTED = "UpdateRunAdmissionRequested"
    """The run is to begin, unless another run of the placement is ahead."""
    ADMITTED = "UpdateRunAdmitted"
    SUPERSEDED = "UpdateRunSuperseded"
    """By a rollout policy: a newer run of the placement replaces this one."""
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
    ADMISSION_REQUESTED = "The update run begins unless another run of the placement is ahead of it"
    ADMITTED = "No other run of the placement was ahead of the update run"
    WITHDRAWN = "The update run was stopped before it began"
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
    TIMED_OUT = "ClusterUpdatingTimedOut"
    """It took longer than its rollout policy allows, but may still finish."""
    SKIPPED = "ClusterUpdatingSkipped"
    """A person decided that the run continues without it."""
    RETRIED = "ClusterUpdatingRetried"
    """A person decided that it is handed out again, which has not come to an end."""
    LEFT = "ClusterLeft"
    """It is no longer picked, or its stage no longer selects it; its rollout policy allows that."""


class JoinReason(StrEnum):
    """Reasons of clusters that were not part of a run when it was planned, in its report."""

    JOINED = "ClusterJoined"
    TOO_LATE = "ClusterJoinedTooLate"
    TOO_MANY = "ClusterDoesNotFit"
    IGNORED = "ClusterIgnored"
    UNASSIGNED = "ClusterWithoutStage"


class ClusterMessage(StrEnum):
    """Messages of a cluster's conditions in a run; the message of a failure is its error."""

    STARTED = "Cluster update started"
    SUCCEEDED = "Cluster update completed successfully"


TIMED_OUT: Final = Text("The cluster was not {done} within {timeout}{attempts}")
"""Message of a cluster that timed out."""
SKIPPED: Final = Text("Skipped by {by}: {comment}")
"""Message of a cluster that a person skipped."""
RETRIED: Final = Text("Retried by {by}: {comment}")
"""Message of a cluster that a person has handed out again."""
LEFT_UNPICKED: Final = "The placement no longer picks the cluster; the next run removes what it has"
"""Messages of a cluster that left the run, by what happened to it."""
LEFT_UNBOUND: Final = "The cluster has no binding any more, or its binding is being deleted"
LEFT_FLEET: Final = "The cluster is no longer a member of the fleet"
LEFT_STAGE: Final = Text("The labels of the cluster no longer match stage {stage}")
LEFT_FOR_OTHER: Final = Text(
    "The labels of the cluster match stage {other} now instead of stage {stage}; the stages of the "
    "run stay as they were planned"
)
LEFT_UPDATED: Final = Text("{why}; it had been updated by then")
"""Message, in the run's report, of a cluster that left after it was updated."""
JOINED: Final = Text("Picked while the run was in progress; added at the end of stage {stage}")
"""Messages, in the run's report, of a cluster that joined, by what became of it."""
JOINED_TOO_LATE: Final = Text(
    "Picked when no more clusters could be added to stage {stage}; the next run updates it"
)
JOINED_TOO_MANY: Final = Text(
    "Picked while the run was in progress, but the run cannot hold more clusters; the next run "
    "updates it"
)
JOIN_IGNORED: Final = Text(
    "Picked while the run was in progress; the rollout policy ignores such clusters "
    "(membership.added), the next run updates it"
)
JOINED_NO_STAGE: Final = Text(
    "No stage selects the cluster; the rollout policy ignores such clusters (membership.unassigned)"
)
PAUSED: Final = Text(
    "The update run is paused because {failed} of the {clusters} clusters {among} failed and "
    "{limit}: {names}; skip or retry them, then continue"
)
"""Message of Progressing while a run is paused by a failure budget."""
PAUSED_STILL: Final = Text(
    "The update run is paused until someone continues it: more clusters {among} had failed than "
    "allowed ({limit}); failed now: {failed} of {clusters}"
)
"""The same once fewer clusters count as failed, because they were skipped, retried or recovered."""


ROLLING_BACK: Final = Text(
    "{failed} of the {clusters} clusters {among} failed and {limit}: {names}; a run that takes the "
    "clusters back is being created"
)
"""Message of Progressing while a run is about to be rolled back."""
STAYS: Final = Text("The cluster {had}, so the rollback leaves it as it is")
"""Message, in a run's report, of a cluster that its rollback leaves alone."""
NOT_ROLLED_BACK: Final = Text("{paused}; it was not rolled back because {why}")
"""Message of Progressing while a run is paused that should have been rolled back."""


QUEUED: Final = Text("waits for run {run}, {place} in line")
"""Message of Progressing and Admitted while another run of the placement is ahead."""
SUPERSEDING: Final = Text(
    "The update run starts nothing more, because {run} replaces it, and ends once the clusters in "
    "flight have finished"
)
"""Message of Progressing while a run that was superseded has clusters in flight."""


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
