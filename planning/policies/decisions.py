"""Whether a decision about a run can be carried out, and what is said about it.

policies: 2.3, 3
"""

from collections.abc import Collection
from typing import Final

from api.rollout_decisions import Decision
from api.runs import ClusterStatus, UpdateRunStatus
from api.texts import Text
from planning.runs import lifecycle, phases
from planning.runs.ledger import DELETION, stage_of
from planning.runs.phases import Progress

NOT_PAUSED = Text("run {run} is not paused by a rollout policy, so there is nothing to continue")
NOT_IN_RUN = Text("cluster {cluster} is not in run {run}")
ALREADY_UPDATED = Text("cluster {cluster} is updated already")
ALREADY_LEFT = Text("cluster {cluster} has left the run already")
ALREADY_SKIPPED = Text("cluster {cluster} was skipped already")
NOT_FAILED = Text(
    "cluster {cluster} has neither failed nor been skipped, and is not stuck, so there is nothing "
    "to retry"
)
REMOVALS_OVER = Text(
    "cluster {cluster} is no longer picked, and the stage that removes such clusters does not run"
)
ALREADY_RETRIED = Text("cluster {cluster} is about to be handed out again already")
OVER = Text(
    "run {run} has ended and cannot be changed; `fleetgate run retry {run} --failed` creates a new "
    "run of the same version"
)

NO_RUN = Text("there is no run {run}")
ANOTHER_RUN = Text("run {run} is another one: its UID is {uid}")
CONTINUES = Text("run {run} continues")
CONTINUES_WITHOUT = Text("run {run} continues without cluster {cluster}")
NOW = Text("cluster {cluster} is handed out again")
IN_ITS_STAGE = Text("cluster {cluster} is skipped no more; its stage is still ahead")
AT_THE_END = Text("cluster {cluster} is handed out again after the last stage of the run")
AWAY = Text(
    "cluster {cluster} has left the run; it can be retried once it is picked and selected by its "
    "stage again"
)
NOT_SUPPORTED = Text("decision {decision} is not supported yet")
UNKNOWN = Text("decision `{decision}` is unknown; supported are {known}")
NO_REASON = Text("decision {decision} needs a reason")

SUPPORTED: Final = (Decision.CONTINUE, Decision.SKIP_CLUSTER, Decision.RETRY_CLUSTER)
"""Decisions that can be carried out."""
_MAY_BE_RETRIED: Final = (Progress.FAILED, Progress.SKIPPED, Progress.LEFT)


def refusal(
    decision: Decision,
    status: UpdateRunStatus,
    *,
    run: str,
    cluster: str = "",
    updating: int | None,
    paused: bool,
    stuck: Collection[str] = (),
    away: bool = False,
) -> str | None:
    """Return why a decision cannot be carried out now; None if it can.

    Args:
        decision: what was decided.
        status: the run's.
        run: its name.
        cluster: the cluster that was decided about; empty if the decision is not about one.
        updating: index of the stage that updates its clusters; None while none does.
        paused: whether a failure budget keeps the run from starting more clusters.
        stuck: clusters in flight that take too long.
        away: whether the cluster is no longer one of its stage.
    """
    if phases.has_ended(status):
        return over(decision, run)
    if decision not in SUPPORTED:
        return NOT_SUPPORTED.fill(decision=decision)
    if decision is Decision.CONTINUE:
        return None if paused else NOT_PAUSED.fill(run=run)
    found = _find(status, cluster)
    if found is None:
        return NOT_IN_RUN.fill(cluster=cluster, run=run)
    index, entry = found
    progress = phases.cluster_progress(entry)
    if progress is Progress.DONE:
        return ALREADY_UPDATED.fill(cluster=cluster)
    if decision is Decision.SKIP_CLUSTER:
        already = {Progress.SKIPPED: ALREADY_SKIPPED, Progress.LEFT: ALREADY_LEFT}.get(progress)
        return already.fill(cluster=cluster) if already else None
    if progress is Progress.LEFT and away:
        return AWAY.fill(cluster=cluster)
    if progress in _MAY_BE_RETRIED or cluster in stuck:
        may_be = index != DELETION or updating == DELETION
        return None if may_be else REMOVALS_OVER.fill(cluster=cluster)
    due = progress is Progress.AHEAD and phases.is_retried(entry)
    return (ALREADY_RETRIED if due else NOT_FAILED).fill(cluster=cluster)


def incomplete(decision: str, reason: str) -> str | None:
    """Return what is missing in a decision that no schema has checked; None if nothing is."""
    if decision not in SUPPORTED:
        return UNKNOWN.fill(decision=decision, known=", ".join(SUPPORTED))
    return None if reason.strip() else NO_REASON.fill(decision=decision)


def over(decision: str, run: str) -> str:
    """Return why a decision about an ended run is refused, and what to do instead."""
    return OVER.fill(run=run) if decision == Decision.RETRY_CLUSTER else lifecycle.over(run)


def _find(status: UpdateRunStatus, cluster: str) -> tuple[int, ClusterStatus] | None:
    found = (
        (index, each)
        for index in (*range(len(status.stages_status)), DELETION)
        for each in stage_of(status, index).clusters
        if each.cluster_name == cluster
    )
    return next(found, None)
