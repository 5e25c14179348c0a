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
from planning.explaining.entries import NOTHING, Entry, Holder

_MEND_AND_CREATE: Final = (
    "Mend what the message names, then make a new run: this one is over. "
    "`fleetgate plan PLACEMENT STRATEGY` says beforehand whether a run would be planned."
)
_GO_ON: Final = "Go on with `fleetgate run start NAME`."

_RUN: Final = (
    Entry(
        Holder.RUN,
        ConditionType.INITIALIZED,
        RunReason.INITIALIZED,
        "The plan is made: stages, clusters and the resource snapshot are in the run's status.",
        "A run whose spec.state is Initialize waits for a look at the plan: "
        "`fleetgate run show NAME`, then `fleetgate run start NAME`.",
    ),
    Entry(
        Holder.RUN,
        ConditionType.INITIALIZED,
        RunReason.INITIALIZE_FAILED,
        "The run could not be planned. No cluster was touched. The message names what is wrong "
        "with the placement, the strategy, the snapshot or the labels of clusters.",
        _MEND_AND_CREATE,
    ),
    Entry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.PROGRESSING,
        "Clusters are being updated, or the next step is about to begin.",
        NOTHING,
    ),
    Entry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.WAITING,
        "The run stands at the gates before or after a stage: an approval has not been given, or "
        "a timed wait is not over.",
        "Give an approval with `fleetgate approve NAME`; a timed wait ends by itself.",
    ),
    Entry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.STUCK,
        "Clusters take longer than a cluster may: 5 minutes, unless the worker was told another "
        "time. The run goes on waiting for them.",
        "`fleetgate run explain NAME` shows the error of each cluster. Once the cluster is well "
        "the run goes on by itself; if it cannot be, `fleetgate rollback PLACEMENT`.",
    ),
    Entry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.STOPPING,
        "Somebody set spec.state to Stop. No other cluster is started; those in flight are "
        "waited for.",
        "Wait for the clusters in flight. `fleetgate run start NAME` takes the stop back.",
    ),
    Entry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.STOPPED,
        "Somebody set spec.state to Stop, and no cluster is in flight any more. Clusters that "
        "are done keep the new version, the others have the old one.",
        f"{_GO_ON} Approvals count again once it goes on.",
    ),
    Entry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.FAILED,
        "The run ended before all stages were done. The condition Succeeded says why.",
        "Read the message of Succeeded, or type `fleetgate run explain NAME`.",
    ),
    Entry(
        Holder.RUN,
        ConditionType.PROGRESSING,
        RunReason.SUCCEEDED,
        "All stages are done.",
        NOTHING,
    ),
    Entry(
        Holder.RUN,
        ConditionType.SUCCEEDED,
        RunReason.FAILED,
        "The run cannot go on, for the reason that the message names. Nothing is rolled back: "
        "clusters that are done keep the new version.",
        "Mend what the message names and make a new run, or go back with "
        "`fleetgate rollback PLACEMENT`.",
    ),
    Entry(
        Holder.RUN,
        ConditionType.SUCCEEDED,
        RunReason.SUCCEEDED,
        "Every cluster has the version that the run rolled out.",
        NOTHING,
    ),
)

_STAGE: Final = (
    Entry(
        Holder.STAGE,
        ConditionType.PROGRESSING,
        StageReason.STARTED,
        "Clusters of the stage are being updated.",
        NOTHING,
    ),
    Entry(
        Holder.STAGE,
        ConditionType.PROGRESSING,
        StageReason.WAITING,
        "The stage stands at its gates: before the first cluster, or after the last one.",
        "Give an approval with `fleetgate approve NAME STAGE`; a timed wait ends by itself.",
    ),
    Entry(
        Holder.STAGE,
        ConditionType.PROGRESSING,
        StageReason.STOPPING,
        "The run is to stop while clusters of this stage are in flight.",
        "Wait for the clusters in flight, or take the stop back with `fleetgate run start NAME`.",
    ),
    Entry(
        Holder.STAGE,
        ConditionType.PROGRESSING,
        StageReason.STOPPED,
        "The run was stopped in this stage, and no cluster of it is in flight.",
        _GO_ON,
    ),
    Entry(
        Holder.STAGE,
        ConditionType.PROGRESSING,
        StageReason.FAILED,
        "The run failed in this stage.",
        "Read the message of the stage's condition Succeeded.",
    ),
    Entry(
        Holder.STAGE,
        ConditionType.PROGRESSING,
        StageReason.SUCCEEDED,
        "All clusters of the stage are updated and its gates are passed.",
        NOTHING,
    ),
    Entry(
        Holder.STAGE,
        ConditionType.PROGRESSING,
        StageReason.SKIPPED,
        "No cluster of the placement has the labels that the stage selects.",
        "If clusters were expected, compare the stage's labelSelector with the labels of the "
        "clusters: `kubectl get memberclusters --show-labels`.",
    ),
    Entry(
        Holder.STAGE,
        ConditionType.SUCCEEDED,
        StageReason.SUCCEEDED,
        "All clusters of the stage are updated and its gates are passed.",
        NOTHING,
    ),
    Entry(
        Holder.STAGE,
        ConditionType.SUCCEEDED,
        StageReason.SKIPPED,
        "The stage has no clusters, so there was nothing to do and no gate to pass.",
        NOTHING,
    ),
    Entry(
        Holder.STAGE,
        ConditionType.SUCCEEDED,
        StageReason.FAILED,
        "The run failed in this stage, for the reason that the message names.",
        "Mend what the message names and make a new run, or go back with "
        "`fleetgate rollback PLACEMENT`.",
    ),
)

_CLUSTER: Final = (
    Entry(
        Holder.CLUSTER,
        ConditionType.STARTED,
        ClusterReason.STARTED,
        "The cluster's binding names the new version. The member is to apply it and report.",
        NOTHING,
    ),
    Entry(
        Holder.CLUSTER,
        ConditionType.SUCCEEDED,
        ClusterReason.SUCCEEDED,
        "The new version is available on the cluster; in the deletion stage: it is gone from it.",
        NOTHING,
    ),
    Entry(
        Holder.CLUSTER,
        ConditionType.SUCCEEDED,
        ClusterReason.FAILED,
        "Somebody else, most often another run, changed the cluster's binding while this run was "
        "updating it.",
        "`fleetgate run list` shows which runs there are of the placement. Let one finish before "
        "the next one starts, then make a new run.",
    ),
)

_GATE: Final = (
    Entry(
        Holder.GATE,
        ConditionType.APPROVAL_REQUEST_CREATED,
        TaskReason.CREATED,
        "The approval request is there for people to see, and the run waits for the approval "
        "unless ApprovalRequestApproved is True.",
        "Approve with `fleetgate approve NAME STAGE --before` or `--after`.",
    ),
    Entry(
        Holder.GATE,
        ConditionType.APPROVAL_REQUEST_APPROVED,
        TaskReason.APPROVED,
        "Somebody approved. That cannot be taken back.",
        NOTHING,
    ),
    Entry(
        Holder.GATE,
        ConditionType.WAIT_TIME_ELAPSED,
        TaskReason.WAIT_ELAPSED,
        "The time that the run waits after the stage is over.",
        NOTHING,
    ),
)

_APPROVAL: Final = (
    Entry(
        Holder.APPROVAL,
        ConditionType.APPROVED,
        ApprovalReason.CLUSTER_APPROVED,
        "Somebody approved with a command line tool. It counts only if observedGeneration is the "
        "request's generation.",
        "If the run goes on waiting, read the events of the request: "
        "`kubectl describe careq NAME`.",
    ),
    Entry(
        Holder.APPROVAL,
        ConditionType.APPROVED,
        ApprovalReason.NAMESPACED_APPROVED,
        "Somebody approved with a command line tool. It counts only if observedGeneration is the "
        "request's generation.",
        "If the run goes on waiting, read the events of the request: "
        "`kubectl describe areq NAME -n NAMESPACE`.",
    ),
    Entry(
        Holder.APPROVAL,
        ConditionType.APPROVAL_ACCEPTED,
        ApprovalReason.ACCEPTED,
        "The run has taken the approval. Changing or deleting the request has no effect any more.",
        NOTHING,
    ),
)

ENTRIES: Final = (*_RUN, *_STAGE, *_CLUSTER, *_GATE, *_APPROVAL)
