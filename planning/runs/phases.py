"""How far a run is, and each of its stages and clusters: one reading of its status for all.

contract: update-runs 5
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from api.base import Condition
from api.reasons import ClusterReason, ConditionType, RunReason, StageReason
from api.runs import ClusterStatus, StageStatus, UpdateRunStatus
from planning import conditions


class Phase(StrEnum):
    """Phase of a run, in one word."""

    PENDING = "pending"
    """Not planned yet."""
    PLANNED = "planned"
    QUEUED = "queued"
    """Waits for another run of its placement, as its rollout policy says."""
    RUNNING = "running"
    WAITING = "waiting"
    STUCK = "stuck"
    STOPPING = "stopping"
    STOPPED = "stopped"
    PAUSED = "paused"
    """By a rollout policy; a person has to decide."""
    ROLLING_BACK = "rolling back"
    """By a rollout policy: the run that takes its clusters back is being created."""
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    """Failed while running, or could not be planned."""


ENDED: Final = frozenset({Phase.SUCCEEDED, Phase.FAILED})

_BY_END: Final[dict[str, Phase]] = {"True": Phase.SUCCEEDED, "False": Phase.FAILED}
_BY_REASON: Final[dict[str, Phase]] = {
    RunReason.WAITING: Phase.WAITING,
    RunReason.STUCK: Phase.STUCK,
    RunReason.STOPPING: Phase.STOPPING,
    RunReason.STOPPED: Phase.STOPPED,
    RunReason.PAUSED: Phase.PAUSED,
    RunReason.ROLLING_BACK: Phase.ROLLING_BACK,
    RunReason.QUEUED: Phase.QUEUED,
    RunReason.SUPERSEDED: Phase.STOPPING,
}


DECIDING: Final = (ConditionType.SUCCEEDED, ConditionType.PROGRESSING, ConditionType.INITIALIZED)
"""Conditions of a run, from the most to the least advanced."""


def phase(status: UpdateRunStatus) -> Phase:
    """Return the phase of a run, by its conditions."""
    return _phase({each.type: (each.status, each.reason) for each in status.conditions})


def has_ended(status: UpdateRunStatus) -> bool:
    """Return whether a run has succeeded or failed, so that nothing can change any more."""
    return phase(status) in ENDED


def body_has_ended(run: Mapping[str, Any]) -> bool:
    """Do the same for a run as it is on the wire, which is a hundred times as fast."""
    found = run.get("status", {}).get("conditions", [])
    return _phase({each["type"]: (each["status"], each["reason"]) for each in found}) in ENDED


def _phase(current: Mapping[str, tuple[str, str]]) -> Phase:
    """Return the phase by the status and the reason of each condition."""
    ended = current.get(ConditionType.SUCCEEDED, ("", ""))[0]
    if ended in _BY_END:
        return _BY_END[ended]
    if ConditionType.INITIALIZED not in current:
        return Phase.PENDING
    if current[ConditionType.INITIALIZED][0] == "False":
        return Phase.FAILED
    if ConditionType.PROGRESSING not in current:
        return Phase.PLANNED
    return _BY_REASON.get(current[ConditionType.PROGRESSING][1], Phase.RUNNING)


def deciding(status: UpdateRunStatus) -> Condition | None:
    """Return the most advanced condition of a run; None before it is planned."""
    found = (conditions.find(status.conditions, kind) for kind in DECIDING)
    return next((each for each in found if each), None)


# -- stages and clusters -------------------------------------------------------------------


class Progress(StrEnum):
    """Progress of a stage or a cluster."""

    AHEAD = "ahead"
    WAITING = "waiting"
    """At a gate; only for stages."""
    UPDATING = "updating"
    STOPPED = "stopped"
    DONE = "done"
    SKIPPED = "skipped"
    """A stage without clusters, or a cluster that the run continues without."""
    LEFT = "left"
    """Not part of the run any more; only for clusters."""
    FAILED = "failed"


_CLUSTER_BY_REASON: Final[dict[str, Progress]] = {
    ClusterReason.SKIPPED: Progress.SKIPPED,
    ClusterReason.LEFT: Progress.LEFT,
}
_STAGE_BY_REASON: Final[dict[str, Progress]] = {
    StageReason.WAITING: Progress.WAITING,
    StageReason.STOPPED: Progress.STOPPED,
}


def stages(status: UpdateRunStatus) -> list[StageStatus]:
    """Return the stages of a run, and the deletion stage if it has clusters to remove."""
    deletion = status.deletion_stage_status
    return [*status.stages_status, *([deletion] if deletion and deletion.clusters else [])]


def stage_name(status: UpdateRunStatus) -> str:
    """Return the stage that is running, comes next, or failed; empty if none is left."""
    left = (each for each in stages(status) if not _has_succeeded(each) or retried_in_flight(each))
    return next((each.stage_name for each in left), "")


def stage_progress(stage: StageStatus) -> Progress:
    """Return the progress of a stage, by its conditions."""
    if succeeded := conditions.find(stage.conditions, ConditionType.SUCCEEDED):
        if succeeded.reason == StageReason.SKIPPED:
            return Progress.SKIPPED
        if retried_in_flight(stage):
            return Progress.UPDATING
        return Progress.DONE if succeeded.status == "True" else Progress.FAILED
    progressing = conditions.find(stage.conditions, ConditionType.PROGRESSING)
    if progressing is None:
        return Progress.AHEAD
    return _STAGE_BY_REASON.get(progressing.reason, Progress.UPDATING)


def is_ahead(stage: StageStatus) -> bool:
    """Return whether a stage has yet to start its clusters; its gates may be open."""
    return stage.start_time is None and not _has_succeeded(stage)


def cluster_progress(cluster: ClusterStatus) -> Progress:
    """Return the progress of a cluster, by its conditions."""
    if succeeded := end_of(cluster):
        ended = Progress.DONE if succeeded.status == "True" else Progress.FAILED
        return _CLUSTER_BY_REASON.get(succeeded.reason, ended)
    begun = conditions.has(cluster.conditions, ConditionType.STARTED)
    return Progress.UPDATING if begun else Progress.AHEAD


def done(stage: StageStatus) -> int:
    """Return how many clusters of a stage are done."""
    # Called with every change: most of a thousand clusters need not be checked.
    if _has_succeeded(stage):
        return len(stage.clusters)
    return sum(each.conditions != [] and is_done(each) for each in stage.clusters)


def is_done(cluster: ClusterStatus) -> bool:
    """Return whether a cluster is done."""
    return cluster_progress(cluster) is Progress.DONE


def end_of(cluster: ClusterStatus) -> Condition | None:
    """Return how a cluster has ended; None if it has not, or a person had it handed out again."""
    found = conditions.find(cluster.conditions, ConditionType.SUCCEEDED)
    return None if found is None or found.reason == ClusterReason.RETRIED else found


def is_retried(cluster: ClusterStatus) -> bool:
    """Return whether a person had a cluster handed out again, which has not come to an end."""
    found = conditions.find(cluster.conditions, ConditionType.SUCCEEDED)
    return found is not None and found.reason == ClusterReason.RETRIED


def retried_in_flight(stage: StageStatus) -> bool:
    """Return whether clusters are being updated that a person had handed out again."""
    return any(
        is_retried(each) and conditions.has(each.conditions, ConditionType.STARTED)
        for each in stage.clusters
    )


def has_failed(cluster: ClusterStatus) -> bool:
    """Return whether a cluster counts against the failure budget of a rollout policy."""
    succeeded = conditions.find(cluster.conditions, ConditionType.SUCCEEDED)
    return succeeded is not None and succeeded.reason == ClusterReason.TIMED_OUT


def is_settled(cluster: ClusterStatus) -> bool:
    """Return whether the run need not wait for a cluster: it is done, or the run continues without.

    Not a cluster that ended its run, for example because another run took it.
    """
    succeeded = end_of(cluster)
    return succeeded is not None and succeeded.reason != ClusterReason.FAILED


def is_touched(cluster: ClusterStatus) -> bool:
    """Return whether the run has begun with a cluster, which it has not if it only goes without."""
    has_ended = cluster_progress(cluster) in (Progress.DONE, Progress.FAILED)
    return has_ended or started_at(cluster) is not None


def started_at(cluster: ClusterStatus) -> datetime | None:
    """Return when a cluster started; None if it has not."""
    started = conditions.find(cluster.conditions, ConditionType.STARTED)
    return started.last_transition_time if started and started.status == "True" else None


def in_flight(stage: StageStatus) -> dict[str, datetime]:
    """Return the clusters that are being updated or removed, with their start times."""
    return {
        cluster.cluster_name: started
        for cluster in stage.clusters
        if (started := started_at(cluster)) and cluster_progress(cluster) is Progress.UPDATING
    }


def all_in_flight(status: UpdateRunStatus) -> list[str]:
    """Return the clusters of all stages that are being updated or removed."""
    return [name for stage in stages(status) for name in in_flight(stage)]


def _has_succeeded(stage: StageStatus) -> bool:
    return conditions.has(stage.conditions, ConditionType.SUCCEEDED)
