"""Reasons of runs, stages, clusters, gates and approval requests.

contract: update-runs 5
"""

from typing import Final

from api.reasons import (
    ApprovalReason,
    ClusterReason,
    ConditionType,
    RunReason,
    StageReason,
    TaskReason,
)
from starter.explain.reasons.entries import NOTHING, Holder, ReasonEntry

_FIX_AND_CREATE: Final = (
    "Fix what the message names, then create a new run: this one has ended. "
    "`fleetgate plan PLACEMENT STRATEGY` shows in advance whether a run can be planned."
)
_GO_ON: Final = "Resume with `fleetgate run start NAME`."

_RUN: Final = (
    ReasonEntry(
        Holder.RUN,
        ConditionType.INITIALIZED,
        RunReason.INITIALIZED,
        "The run is planned: stages, clusters and the resource snapshot are in its status.",
        "A run whose spec.state is Initialize waits for a review of its plan: "
        "`fleetgate run show NAME`, then `fleetgate run start NAME`.",
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.INITIALIZED,
        RunReason.INITIALIZE_FAILED,
        "The run could not be planned. No cluster was touched. The message says what is wrong "
        "with the placement, the strategy, the snapshot or the labels of clusters.",
        _FIX_AND_CREATE,
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.PROGRESSING,
        "Clusters are being updated, or the next step is about to begin.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.WAITING,
        "The run is waiting at a gate before or after a stage: an approval has not been given, or "
        "a timed wait is not over.",
        "Give an approval with `fleetgate approve NAME`; a timed wait ends by itself.",
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.STUCK,
        "Clusters have exceeded the time limit for one cluster: 5 minutes, unless the worker sets "
        "another. The run keeps waiting for them.",
        "`fleetgate run explain NAME` shows the error of each cluster. Once the cluster is "
        "available, the run continues; if that cannot be achieved, `fleetgate rollback PLACEMENT`.",
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.STOPPING,
        "The run's spec.state was set to Stop. No further cluster is started; the run waits for "
        "those in flight.",
        "Wait for the clusters in flight. To undo the stop: `fleetgate run start NAME`.",
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.STOPPED,
        "The run's spec.state was set to Stop, and no cluster is in flight any more. Updated "
        "clusters keep the new snapshot, the others have the old one.",
        f"{_GO_ON} Approvals count again once the run has resumed.",
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.FAILED,
        "The run ended before all stages were done. The condition Succeeded says why.",
        "Read the message of Succeeded, or run `fleetgate run explain NAME`.",
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.SUCCEEDED,
        "All stages are done.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.SUCCEEDED,
        RunReason.FAILED,
        "The run cannot continue; the message says why. Nothing is rolled back: updated clusters "
        "keep the new snapshot.",
        "Fix what the message names and create a new run, or roll back with "
        "`fleetgate rollback PLACEMENT`.",
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.SUCCEEDED,
        RunReason.SUCCEEDED,
        "Every cluster has the snapshot that the run rolled out.",
        NOTHING,
    ),
)

_STAGE: Final = (
    ReasonEntry(
        Holder.STAGE,
        ConditionType.PROGRESSING,
        StageReason.STARTED,
        "Clusters of the stage are being updated.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.STAGE,
        ConditionType.PROGRESSING,
        StageReason.WAITING,
        "The stage is waiting at a gate: before its first cluster, or after its last one.",
        "Give an approval with `fleetgate approve NAME STAGE`; a timed wait ends by itself.",
    ),
    ReasonEntry(
        Holder.STAGE,
        ConditionType.PROGRESSING,
        StageReason.STOPPING,
        "The run is stopping while clusters of this stage are in flight.",
        "Wait for the clusters in flight, or undo the stop with `fleetgate run start NAME`.",
    ),
    ReasonEntry(
        Holder.STAGE,
        ConditionType.PROGRESSING,
        StageReason.STOPPED,
        "The run was stopped in this stage, and no cluster of it is in flight.",
        _GO_ON,
    ),
    ReasonEntry(
        Holder.STAGE,
        ConditionType.PROGRESSING,
        StageReason.FAILED,
        "The run failed in this stage.",
        "Read the message of the stage's condition Succeeded.",
    ),
    ReasonEntry(
        Holder.STAGE,
        ConditionType.PROGRESSING,
        StageReason.SUCCEEDED,
        "All clusters of the stage are updated, and its gates have been passed.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.STAGE,
        ConditionType.PROGRESSING,
        StageReason.SKIPPED,
        "No cluster of the placement has the labels that the stage selects.",
        "If clusters were expected, compare the stage's labelSelector with the labels of the "
        "clusters: `kubectl get memberclusters --show-labels`.",
    ),
    ReasonEntry(
        Holder.STAGE,
        ConditionType.SUCCEEDED,
        StageReason.SUCCEEDED,
        "All clusters of the stage are updated, and its gates have been passed.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.STAGE,
        ConditionType.SUCCEEDED,
        StageReason.SKIPPED,
        "The stage has no clusters, so there was nothing to do and no gate to pass.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.STAGE,
        ConditionType.SUCCEEDED,
        StageReason.FAILED,
        "The run failed in this stage; the message says why.",
        "Fix what the message names and create a new run, or roll back with "
        "`fleetgate rollback PLACEMENT`.",
    ),
)

_CLUSTER: Final = (
    ReasonEntry(
        Holder.CLUSTER,
        ConditionType.STARTED,
        ClusterReason.STARTED,
        "The cluster's binding names the new snapshot. The member has yet to apply it and report.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.CLUSTER,
        ConditionType.SUCCEEDED,
        ClusterReason.SUCCEEDED,
        "The new snapshot is available on the cluster; in the deletion stage: the objects are gone "
        "from it.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.CLUSTER,
        ConditionType.SUCCEEDED,
        ClusterReason.FAILED,
        "The cluster's binding was changed, most likely by another run, while this run was "
        "updating it.",
        "`fleetgate run list` shows the runs of the placement. Let one finish before the next one "
        "starts, then create a new run.",
    ),
)

_GATE: Final = (
    ReasonEntry(
        Holder.GATE,
        ConditionType.APPROVAL_REQUEST_CREATED,
        TaskReason.CREATED,
        "The approval request has been created, and the run waits for the approval unless "
        "ApprovalRequestApproved is True.",
        "Approve with `fleetgate approve NAME STAGE --before` or `--after`.",
    ),
    ReasonEntry(
        Holder.GATE,
        ConditionType.APPROVAL_REQUEST_APPROVED,
        TaskReason.APPROVED,
        "The gate was approved. This cannot be undone.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.GATE,
        ConditionType.WAIT_TIME_ELAPSED,
        TaskReason.WAIT_ELAPSED,
        "The timed wait after the stage is over.",
        NOTHING,
    ),
)

_APPROVAL: Final = (
    ReasonEntry(
        Holder.APPROVAL,
        ConditionType.APPROVED,
        ApprovalReason.CLUSTER_APPROVED,
        "The request was approved with a command line tool. The approval counts only if its "
        "observedGeneration is the request's generation.",
        "If the run keeps waiting, read the events of the request: `kubectl describe careq NAME`.",
    ),
    ReasonEntry(
        Holder.APPROVAL,
        ConditionType.APPROVED,
        ApprovalReason.NAMESPACED_APPROVED,
        "The request was approved with a command line tool. The approval counts only if its "
        "observedGeneration is the request's generation.",
        "If the run keeps waiting, read the events of the request: "
        "`kubectl describe areq NAME -n NAMESPACE`.",
    ),
    ReasonEntry(
        Holder.APPROVAL,
        ConditionType.APPROVAL_ACCEPTED,
        ApprovalReason.ACCEPTED,
        "The run has accepted the approval. Changing or deleting the request has no effect any "
        "more.",
        NOTHING,
    ),
)

ENTRIES: Final = (*_RUN, *_STAGE, *_CLUSTER, *_GATE, *_APPROVAL)
