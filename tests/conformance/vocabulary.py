"""Every condition of the contract's section 5, spelled out independently of the product.

A test names the row that it expects; the summary at the end of the session lists the rows that no
test has seen.
"""

from dataclasses import dataclass
from enum import Enum

SKIPPED = "Stage skipped because it has no clusters"
RUN_WAITING = "The updateRun is waiting for {side}-stage tasks in stage {stage} to complete"


@dataclass(frozen=True, slots=True)
class Row:
    """One condition with its exact texts; the test fills in `{…}` in the message."""

    type: str
    status: str
    reason: str
    message: str


class Says(Enum):
    """The rows of section 5; the first word says which object carries the condition."""

    RUN_INITIALIZED = Row(
        "Initialized",
        "True",
        "UpdateRunInitializedSuccessfully",
        "The UpdateRun initialized successfully",
    )
    RUN_NOT_INITIALIZED = Row("Initialized", "False", "UpdateRunInitializedFailed", "{error}")
    RUN_PROGRESSING = Row(
        "Progressing", "True", "UpdateRunProgressing", "The update run is making progress"
    )
    RUN_WAITING_BEFORE = Row(
        "Progressing", "False", "UpdateRunWaiting", RUN_WAITING.replace("{side}", "before")
    )
    RUN_WAITING_AFTER = Row(
        "Progressing", "False", "UpdateRunWaiting", RUN_WAITING.replace("{side}", "after")
    )
    RUN_STUCK = Row(
        "Progressing",
        "False",
        "UpdateRunStuck",
        "The updateRun is stuck waiting for {clusters} cluster(s) in stage {stage} to finish "
        "updating, please check placement status for potential errors",
    )
    RUN_STOPPING = Row(
        "Progressing",
        "Unknown",
        "UpdateRunStopping",
        "The update run is the process of stopping, waiting for all the updating/deleting "
        "clusters to finish updating before completing the stop process",
    )
    RUN_STOPPED = Row("Progressing", "False", "UpdateRunStopped", "The update run has been stopped")
    RUN_ABORTED = Row(
        "Progressing",
        "False",
        "UpdateRunFailed",
        "The stages are aborted due to a non-recoverable error",
    )
    RUN_FAILED = Row("Succeeded", "False", "UpdateRunFailed", "{error}")
    RUN_COMPLETED = Row("Progressing", "False", "UpdateRunSucceeded", "All stages are completed")
    RUN_SUCCEEDED = Row(
        "Succeeded", "True", "UpdateRunSucceeded", "All stages are completed successfully"
    )

    STAGE_STARTED = Row(
        "Progressing", "True", "StageUpdatingStarted", "Clusters in the stage started updating"
    )
    STAGE_WAITING_BEFORE = Row(
        "Progressing",
        "False",
        "StageUpdatingWaiting",
        "Not all before-stage tasks are completed, waiting for approval",
    )
    STAGE_WAITING_AFTER = Row(
        "Progressing",
        "False",
        "StageUpdatingWaiting",
        "All clusters in the stage are updated, waiting for after-stage tasks to complete",
    )
    STAGE_STOPPING = Row(
        "Progressing",
        "Unknown",
        "StageUpdatingStopping",
        "Waiting for all the updating clusters to finish updating before completing the stop "
        "process",
    )
    STAGE_STOPPED = Row(
        "Progressing",
        "False",
        "StageUpdatingStopped",
        "All the updating clusters have finished updating, the stage is now stopped, waiting to "
        "be resumed",
    )
    STAGE_ABORTED = Row(
        "Progressing",
        "False",
        "StageUpdatingFailed",
        "Stage update aborted due to a non-recoverable error",
    )
    STAGE_FAILED = Row("Succeeded", "False", "StageUpdatingFailed", "{error}")
    STAGE_COMPLETED = Row(
        "Progressing",
        "False",
        "StageUpdatingSucceeded",
        "All clusters in the stage are updated and after-stage tasks are completed",
    )
    STAGE_SUCCEEDED = Row(
        "Succeeded", "True", "StageUpdatingSucceeded", "Stage update completed successfully"
    )
    STAGE_SKIPPED = Row("Progressing", "False", "StageUpdatingSkippedNoClusters", SKIPPED)
    STAGE_SKIPPED_WELL = Row("Succeeded", "True", "StageUpdatingSkippedNoClusters", SKIPPED)

    CLUSTER_STARTED = Row("Started", "True", "ClusterUpdatingStarted", "Cluster update started")
    CLUSTER_SUCCEEDED = Row(
        "Succeeded", "True", "ClusterUpdatingSucceeded", "Cluster update completed successfully"
    )
    CLUSTER_FAILED = Row("Succeeded", "False", "ClusterUpdatingFailed", "{error}")

    TASK_CREATED = Row(
        "ApprovalRequestCreated",
        "True",
        "StageTaskApprovalRequestCreated",
        "ApprovalRequest object is created",
    )
    TASK_APPROVED = Row(
        "ApprovalRequestApproved",
        "True",
        "StageTaskApprovalRequestApproved",
        "ApprovalRequest object is approved",
    )
    TASK_WAITED = Row(
        "WaitTimeElapsed", "True", "AfterStageTaskWaitTimeElapsed", "Wait time elapsed"
    )

    APPROVAL_ACCEPTED = Row(
        "ApprovalAccepted",
        "True",
        "ApprovalRequestApprovalAccepted",
        "The approval request has been approved and cannot be reverted",
    )
    BINDING_ROLLOUT_STARTED = Row(
        "RolloutStarted",
        "True",
        "RolloutStarted",
        "Detected the new changes on the resources and started the rollout process, "
        "resourceSnapshotIndex: {index}, updateRun: {run}",
    )
