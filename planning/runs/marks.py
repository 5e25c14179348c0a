"""Functions that change a run's status: callers say what happened, not how the status looks.

contract: update-runs 5 (reasons and messages), 8, 10 and 11
"""

from collections.abc import Sequence
from datetime import datetime

from api.base import ConditionStatus
from api.reasons import (
    ClusterMessage,
    ClusterReason,
    ConditionType,
    RunMessage,
    RunReason,
    StageMessage,
    StageReason,
    stuck,
    waiting_after,
    waiting_before,
)
from planning import conditions
from planning.runs.gates import KINDS, Side
from planning.runs.ledger import Ledger

TRUE, FALSE, UNKNOWN = ConditionStatus.TRUE, ConditionStatus.FALSE, ConditionStatus.UNKNOWN
INITIALIZED, PROGRESSING = ConditionType.INITIALIZED, ConditionType.PROGRESSING
STARTED, SUCCEEDED = ConditionType.STARTED, ConditionType.SUCCEEDED
ADMITTED = ConditionType.ADMITTED


# -- the run -------------------------------------------------------------------------------


def run_initialized(ledger: Ledger, now: datetime) -> None:
    """Mark the run as planned; the whole status has to be written."""
    ledger.touch("")
    ledger.put_run(INITIALIZED, TRUE, RunReason.INITIALIZED, RunMessage.INITIALIZED, now)


def run_not_initialized(ledger: Ledger, text: str, now: datetime) -> None:
    """Mark the run as not plannable, finally; what was found before the error stays visible."""
    ledger.touch("")
    ledger.put_run(INITIALIZED, FALSE, RunReason.INITIALIZE_FAILED, text, now)
    ledger.close()


def run_progressing(ledger: Ledger, now: datetime) -> None:
    """Mark the run as updating clusters, or about to."""
    ledger.put_run(PROGRESSING, TRUE, RunReason.PROGRESSING, RunMessage.PROGRESSING, now)


def run_stuck(ledger: Ledger, index: int, clusters: Sequence[str], now: datetime) -> None:
    """Mark the run as stuck on clusters, named in the stage's order, past their time limit."""
    text = stuck(clusters, stage=ledger.stage(index).stage_name)
    ledger.put_run(PROGRESSING, FALSE, RunReason.STUCK, text, now)


def run_paused(ledger: Ledger, text: str, now: datetime) -> None:
    """Mark the run as paused by a rollout policy."""
    ledger.put_run(PROGRESSING, FALSE, RunReason.PAUSED, text, now)


def run_rolling_back(ledger: Ledger, text: str, now: datetime) -> None:
    """Mark the run as about to be rolled back by its rollout policy."""
    ledger.put_run(PROGRESSING, FALSE, RunReason.ROLLING_BACK, text, now)


def admission_requested(ledger: Ledger, now: datetime) -> None:
    """Mark the run as about to begin, unless another run of the placement is ahead."""
    reason, text = RunReason.ADMISSION_REQUESTED, RunMessage.ADMISSION_REQUESTED
    ledger.put_run(ADMITTED, UNKNOWN, reason, text, now)


def run_admitted(ledger: Ledger, now: datetime) -> None:
    """Mark the run as begun, which cannot be undone."""
    ledger.put_run(ADMITTED, TRUE, RunReason.ADMITTED, RunMessage.ADMITTED, now)
    run_progressing(ledger, now)


def run_queued(ledger: Ledger, text: str, now: datetime, *, withdrawn: bool) -> None:
    """Mark the run as waiting for another run; `withdrawn` says that it claims nothing."""
    if withdrawn:
        ledger.put_run(ADMITTED, FALSE, RunReason.QUEUED, text, now)
    ledger.put_run(PROGRESSING, FALSE, RunReason.QUEUED, text, now)


def run_withdrawn(ledger: Ledger, now: datetime) -> None:
    """Mark the run as not about to begin any more, because it was stopped."""
    ledger.put_run(ADMITTED, FALSE, RunReason.STOPPED, RunMessage.WITHDRAWN, now)


def run_refused(ledger: Ledger, text: str, now: datetime) -> None:
    """Mark the run as one that may not begin; its failure is marked separately."""
    ledger.put_run(ADMITTED, FALSE, RunReason.FAILED, text, now)


def run_superseded(ledger: Ledger, text: str, now: datetime) -> None:
    """Mark the run as about to end because of a newer one, once its clusters have finished."""
    ledger.put_run(PROGRESSING, UNKNOWN, RunReason.SUPERSEDED, text, now)


def run_succeeded(ledger: Ledger, now: datetime, *, text: str = RunMessage.SUCCEEDED) -> None:
    """Mark the run as succeeded: all stages are done."""
    ledger.put_run(PROGRESSING, FALSE, RunReason.SUCCEEDED, RunMessage.COMPLETED, now)
    ledger.put_run(SUCCEEDED, TRUE, RunReason.SUCCEEDED, text, now)
    ledger.close()


def run_failed(
    ledger: Ledger, text: str, now: datetime, *, reason: RunReason = RunReason.FAILED
) -> None:
    """Mark the run as failed; what was rolled out stays."""
    ledger.put_run(PROGRESSING, FALSE, reason, RunMessage.ABORTED, now)
    ledger.put_run(SUCCEEDED, FALSE, reason, text, now)
    ledger.close()


# -- run and stage together ----------------------------------------------------------------


def waiting(ledger: Ledger, index: int, side: Side, now: datetime) -> None:
    """Mark run and stage as waiting for the gates on one side of the stage."""
    before = side == "before"
    name = ledger.stage(index).stage_name
    text = StageMessage.WAITING_BEFORE if before else StageMessage.WAITING_AFTER
    ledger.put_stage(index, PROGRESSING, FALSE, StageReason.WAITING, text, now)
    run_text = waiting_before(name) if before else waiting_after(name)
    ledger.put_run(PROGRESSING, FALSE, RunReason.WAITING, run_text, now)


def stopping(ledger: Ledger, index: int, now: datetime) -> None:
    """Mark run and stage as stopping: nothing new starts, clusters in flight may finish."""
    ledger.put_run(PROGRESSING, UNKNOWN, RunReason.STOPPING, RunMessage.STOPPING, now)
    ledger.put_stage(index, PROGRESSING, UNKNOWN, StageReason.STOPPING, StageMessage.STOPPING, now)


def stopped(ledger: Ledger, index: int, now: datetime) -> None:
    """Mark run and stage as stopped: no cluster is in flight any more."""
    ledger.put_run(PROGRESSING, FALSE, RunReason.STOPPED, RunMessage.STOPPED, now)
    ledger.put_stage(index, PROGRESSING, FALSE, StageReason.STOPPED, StageMessage.STOPPED, now)


# -- stages --------------------------------------------------------------------------------


def stage_started(ledger: Ledger, index: int, now: datetime) -> None:
    """Mark the stage as updating its clusters."""
    ledger.set_times(index, start=now)
    ledger.put_stage(index, PROGRESSING, TRUE, StageReason.STARTED, StageMessage.STARTED, now)


def stage_skipped(ledger: Ledger, index: int, now: datetime) -> None:
    """Mark the stage as skipped: it has no clusters, and its gates do not open."""
    ledger.set_times(index, start=now, end=now)
    for kind, status in ((PROGRESSING, FALSE), (SUCCEEDED, TRUE)):
        ledger.put_stage(index, kind, status, StageReason.SKIPPED, StageMessage.SKIPPED, now)


def stage_succeeded(ledger: Ledger, index: int, now: datetime) -> None:
    """Mark the stage as succeeded: all clusters are updated and all gates passed."""
    ledger.set_times(index, end=now)
    reason = StageReason.SUCCEEDED
    ledger.put_stage(index, PROGRESSING, FALSE, reason, StageMessage.COMPLETED, now)
    ledger.put_stage(index, SUCCEEDED, TRUE, reason, StageMessage.SUCCEEDED, now)


def stage_failed(ledger: Ledger, index: int, text: str, now: datetime) -> None:
    """Mark the stage as failed, as the cause of the run's end."""
    ledger.set_times(index, end=now)
    reason = StageReason.FAILED
    ledger.put_stage(index, PROGRESSING, FALSE, reason, StageMessage.ABORTED, now)
    ledger.put_stage(index, SUCCEEDED, FALSE, reason, text, now)


# -- clusters and gates --------------------------------------------------------------------


def cluster_started(ledger: Ledger, index: int, position: int, now: datetime) -> None:
    """Mark the cluster as started."""
    ledger.put_cluster(
        index, position, STARTED, TRUE, ClusterReason.STARTED, ClusterMessage.STARTED, now
    )


def cluster_succeeded(ledger: Ledger, index: int, position: int, now: datetime) -> None:
    """Mark the cluster as done: the content is available, or removed in the deletion stage."""
    ledger.put_cluster(
        index, position, SUCCEEDED, TRUE, ClusterReason.SUCCEEDED, ClusterMessage.SUCCEEDED, now
    )


def cluster_failed(ledger: Ledger, index: int, position: int, text: str, now: datetime) -> None:
    """Mark the cluster as failed, most often because another run took it."""
    ledger.put_cluster(index, position, SUCCEEDED, FALSE, ClusterReason.FAILED, text, now)


def cluster_timed_out(ledger: Ledger, index: int, position: int, text: str, now: datetime) -> None:
    """Mark the cluster as failed by its rollout policy; it may still finish."""
    ledger.put_cluster(index, position, SUCCEEDED, FALSE, ClusterReason.TIMED_OUT, text, now)


def cluster_skipped(ledger: Ledger, index: int, position: int, text: str, now: datetime) -> None:
    """Mark the cluster as one that the run continues without."""
    ledger.put_cluster(index, position, SUCCEEDED, FALSE, ClusterReason.SKIPPED, text, now)


def cluster_retried(ledger: Ledger, index: int, position: int, text: str, now: datetime) -> None:
    """Mark the cluster as one to be handed out again, because a person decided so."""
    reason = ClusterReason.RETRIED
    if conditions.find(ledger.cluster(index, position).conditions, STARTED):
        ledger.put_cluster(index, position, STARTED, FALSE, reason, text, now)
    ledger.put_cluster(index, position, SUCCEEDED, UNKNOWN, reason, text, now)


def cluster_left(ledger: Ledger, index: int, position: int, text: str, now: datetime) -> None:
    """Mark the cluster as one that is not part of the run any more."""
    ledger.put_cluster(index, position, SUCCEEDED, FALSE, ClusterReason.LEFT, text, now)


def gate_opened(ledger: Ledger, index: int, side: Side, position: int, now: datetime) -> None:
    """Mark a gate as open, if a gate of its kind says so."""
    if opened := KINDS[ledger.task(index, side, position).type].opened:
        ledger.put_task(index, side, position, *opened, now)


def gate_passed(ledger: Ledger, index: int, side: Side, position: int, now: datetime) -> None:
    """Mark a gate as passed, which cannot be undone."""
    passed = KINDS[ledger.task(index, side, position).type].passed
    ledger.put_task(index, side, position, *passed, now)
