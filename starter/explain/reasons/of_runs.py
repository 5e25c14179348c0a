"""Reasons of runs, stages, clusters, gates and approval requests.

contract: update-runs 5
"""

from typing import Final

from api.reasons import (
    ApprovalReason,
    ClusterReason,
    ConditionType,
    JoinReason,
    RunReason,
    StageReason,
    TaskReason,
)
from starter.explain.reasons.entries import NOTHING, WAIT, Holder, ReasonEntry

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
        RunReason.PAUSED,
        "More clusters failed than the run's rollout policy allows. Clusters in flight have "
        "finished, and no further one is started until a person decides.",
        "Fix what fails, then `fleetgate run retry` the clusters or `fleetgate run skip` them, and "
        "let the run continue with `fleetgate run start NAME`.",
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.ROLLING_BACK,
        "More clusters failed than the run's rollout policy allows, and the policy rolls the run "
        "back then: a run that takes its clusters back is being created.",
        "Nothing: the run ends in a moment, and its message names the other run.",
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.QUEUED,
        "Another run of the placement is ahead, and the run's rollout policy lets only one of them "
        "run at a time. The message says which run it is, and the place in the line.",
        "Nothing to do: the run begins by itself. `fleetgate run stop NAME` takes it out of the "
        "line, and `fleetgate run delete` removes a run that is ahead.",
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.SUPERSEDED,
        "A newer run of the placement replaces this one, as that run's rollout policy says. This "
        "run starts nothing more, and ends once the clusters in flight have finished.",
        "Nothing to do. A cluster that does not finish has to be fixed, or skipped with "
        "`fleetgate run skip NAME CLUSTER --reason WHY`.",
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.ADMITTED,
        RunReason.ADMISSION_REQUESTED,
        "The run begins unless another run of its placement is ahead, which is being checked.",
        WAIT,
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.ADMITTED,
        RunReason.QUEUED,
        "Another run of the placement is ahead, and the run's rollout policy lets only one of them "
        "run at a time.",
        "Nothing to do: the run begins by itself.",
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.ADMITTED,
        RunReason.STOPPED,
        "The run was stopped before it began, and left the line of runs that wait.",
        _GO_ON,
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.ADMITTED,
        RunReason.FAILED,
        "Another run of the placement was ahead, and the run's rollout policy refuses concurrent "
        "runs. No cluster was touched.",
        "Wait until the other run has ended, then create a new run.",
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.ADMITTED,
        RunReason.ADMITTED,
        "No other run of the placement was ahead, so the run began.",
        NOTHING,
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
        "The run cannot continue; the message says why. Updated clusters keep the new snapshot, "
        "unless its rollout policy rolls the run back, which the message says too.",
        "Fix what the message names and create a new run, or roll back with "
        "`fleetgate rollback PLACEMENT`.",
    ),
    ReasonEntry(
        Holder.RUN,
        ConditionType.SUCCEEDED,
        RunReason.SUPERSEDED,
        "A newer run of the placement replaced this one; the message names it. Updated clusters "
        "keep the snapshot of this run until the newer run updates them.",
        "Nothing to do: follow the newer run.",
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
        ClusterReason.TIMED_OUT,
        "The cluster took longer than the run's rollout policy allows, in each attempt, and counts "
        "as failed. If it is updated after all while its stage runs, it no longer counts.",
        "`fleetgate run explain NAME` shows the error on the cluster. Fix it, then "
        "`fleetgate run retry NAME CLUSTER`, or `fleetgate run skip NAME CLUSTER`.",
    ),
    ReasonEntry(
        Holder.CLUSTER,
        ConditionType.SUCCEEDED,
        ClusterReason.SKIPPED,
        "A person decided that the run continues without it; the message says who and why.",
        "`fleetgate run retry NAME CLUSTER` hands it out again: at once while its stage runs, else "
        "after the last stage.",
    ),
    ReasonEntry(
        Holder.CLUSTER,
        ConditionType.STARTED,
        ClusterReason.RETRIED,
        "A person decided that this cluster is handed out again; the message says who and why. It "
        "waits for its turn: in its stage while that runs, else after the last stage.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.CLUSTER,
        ConditionType.SUCCEEDED,
        ClusterReason.RETRIED,
        "A person decided that this cluster is handed out again, and it is not updated yet; the "
        "condition Started says whether it waits for its turn.",
        NOTHING,
    ),
    ReasonEntry(
        Holder.CLUSTER,
        ConditionType.SUCCEEDED,
        ClusterReason.LEFT,
        "The cluster is no longer picked, or its stage no longer selects it, and the run's rollout "
        "policy lets it leave (membership.removed). The run continues without it.",
        "Nothing to do, if it left on purpose: the next run treats it as what it is by then. If it "
        "is back, `fleetgate run retry NAME CLUSTER` hands it out while its stage runs.",
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

_NEXT_RUN: Final = "Create another run once this one has ended; it updates the cluster."

_REPORT: Final = (
    ReasonEntry(
        Holder.REPORT,
        "",
        JoinReason.JOINED,
        "The cluster was picked while the run was in progress, and was added at the end of its "
        "stage, as the run's rollout policy says (membership.added).",
        NOTHING,
    ),
    ReasonEntry(
        Holder.REPORT,
        "",
        JoinReason.TOO_LATE,
        "The cluster was picked while the run was in progress, but its stage had ended, or waited "
        "at the gates after it: what people approve there is about the clusters that it had.",
        _NEXT_RUN,
    ),
    ReasonEntry(
        Holder.REPORT,
        "",
        JoinReason.TOO_MANY,
        "The cluster was picked while the run was in progress, but with it the run's status would "
        "grow larger than the API server accepts.",
        _NEXT_RUN,
    ),
    ReasonEntry(
        Holder.REPORT,
        "",
        JoinReason.IGNORED,
        "The cluster was picked while the run was in progress, and the run's rollout policy "
        "ignores such clusters (membership.added is Ignore).",
        _NEXT_RUN,
    ),
    ReasonEntry(
        Holder.REPORT,
        "",
        JoinReason.UNASSIGNED,
        "The cluster is picked, but no stage of the strategy selects it, and the run's rollout "
        "policy ignores such clusters (membership.unassigned).",
        "If it should be updated, label it so that a stage selects it, and create another run.",
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

ENTRIES: Final = (*_RUN, *_STAGE, *_CLUSTER, *_REPORT, *_GATE, *_APPROVAL)
