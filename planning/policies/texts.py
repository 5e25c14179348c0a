"""What a run says about clusters that were not simply updated, and about its budget.

policies: 3
"""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Final

from api.reasons import (
    JOIN_IGNORED,
    JOINED,
    JOINED_NO_STAGE,
    JOINED_TOO_LATE,
    JOINED_TOO_MANY,
    LEFT_FLEET,
    LEFT_FOR_OTHER,
    LEFT_STAGE,
    LEFT_UNBOUND,
    LEFT_UNPICKED,
    LEFT_UPDATED,
    NOT_ROLLED_BACK,
    PAUSED,
    PAUSED_STILL,
    QUEUED,
    RETRIED,
    ROLLING_BACK,
    SKIPPED,
    STAYS,
    SUPERSEDING,
    TIMED_OUT,
    ClusterReason,
    JoinReason,
    RunMessage,
    clusters_named,
)
from api.rollout_policies import BudgetAction, ConcurrentRuns, OnAdded, OnRemoved
from api.rollout_reports import QueuePosition
from api.runs import StageStatus, UpdateRunStatus
from planning import durations
from planning.policies import budgets
from planning.policies.budgets import Exceeded
from planning.runs import gates, phases
from planning.runs.ledger import stage_of
from planning.runs.membership import Departure, Leaver, is_fixed
from planning.runs.phases import Phase
from planning.runs.rules import RunRules, StageRules, share

_ENDED: Final = "{completed}; {what}, see {report}"


_CONCURRENT: Final = {
    ConcurrentRuns.QUEUE: "waits until the runs of the placement that are ahead have ended",
    ConcurrentRuns.SUPERSEDE: "ends older runs of the placement before it begins",
    ConcurrentRuns.REFUSE: "fails if another run of the placement is ahead",
}
_ORDINALS: Final = {1: "st", 2: "nd", 3: "rd"}
_ACTIONS: Final = {
    BudgetAction.PAUSE: "the run pauses",
    BudgetAction.ABORT: "the run fails",
    BudgetAction.ROLL_BACK: "the run is rolled back",
}


_REMOVED: Final = {
    OnRemoved.FAIL: "end the run",
    OnRemoved.SKIP: "are skipped",
}
_ADDED: Final = {
    OnAdded.FAIL: "end the run",
    OnAdded.APPEND: "are added at the end of their stage",
    OnAdded.IGNORE: "are left to the next run",
}
_JOINED: Final = {
    JoinReason.JOINED: JOINED,
    JoinReason.TOO_LATE: JOINED_TOO_LATE,
    JoinReason.TOO_MANY: JOINED_TOO_MANY,
    JoinReason.IGNORED: JOIN_IGNORED,
    JoinReason.UNASSIGNED: JOINED_NO_STAGE,
}


def limits(rules: StageRules, *, clusters: int) -> str:
    """Return the rules of a stage with this number of clusters as a sentence."""
    if rules.timeout is None:
        time = "a cluster may take any time"
    else:
        time = f"a cluster may take {durations.short(rules.timeout)}"
        if rules.retries:
            tries = "1 more attempt" if rules.retries == 1 else f"{rules.retries} more attempts"
            pause = f", {durations.short(rules.retry_after)} apart" if rules.retry_after else ""
            time += f" in each of its attempts, and has {tries}{pause}"
    most = share(rules.most, of=clusters)
    may = "none" if most == 0 else f"{most} of {clusters}"
    return f"{time}; {may} may fail before {_ACTIONS[rules.action]}"


def timed_out(done: str, *, timeout: timedelta, attempts: int) -> str:
    """Return the message of a cluster that was not `done` in time in any attempt."""
    tries = f" in any of {attempts} attempts" if attempts > 1 else ""
    return TIMED_OUT.fill(done=done, timeout=durations.short(timeout), attempts=tries)


def skipped(*, by: str, comment: str) -> str:
    """Return the message of a cluster that a person skipped."""
    return SKIPPED.fill(by=by, comment=comment)


def retried(*, by: str, comment: str) -> str:
    """Return the message of a cluster that a person has handed out again."""
    return RETRIED.fill(by=by, comment=comment)


def left(leaver: Leaver) -> str:
    """Return the message of a cluster that left its run."""
    match leaver.how:
        case Departure.UNPICKED:
            return LEFT_UNPICKED
        case Departure.UNBOUND:
            return LEFT_UNBOUND
        case Departure.FLEET:
            return LEFT_FLEET
    if leaver.other:
        return LEFT_FOR_OTHER.fill(stage=leaver.stage, other=leaver.other)
    return LEFT_STAGE.fill(stage=leaver.stage)


def left_updated(leaver: Leaver) -> str:
    """Return the message of a cluster that left after it was updated."""
    return LEFT_UPDATED.fill(why=left(leaver))


def joined(reason: JoinReason, *, stage: str) -> str:
    """Return the message of a cluster that joined a run, by what became of it there."""
    return _JOINED[reason].fill(stage=stage)


def membership(rules: RunRules) -> str:
    """Return the rules about clusters that leave or join; empty if those are KubeFleet's."""
    if is_fixed(rules):
        return ""
    return (
        f"clusters that leave {_REMOVED[rules.removed]}; clusters that join {_ADDED[rules.added]}"
    )


def of_exceeded(found: Exceeded, stage: StageStatus) -> dict[str, object]:
    """Return the parameters of the texts about a budget that was exceeded during a stage."""
    clusters = [each.cluster_name for each in stage.clusters if phases.has_failed(each)]
    policy = f"rollout policy {found.policy}" if found.policy else "its rollout policy"
    return {
        "failed": found.failed,
        "clusters": found.clusters,
        "among": f"of stage {stage.stage_name}" if found.field == "failures.most" else "of the run",
        "limit": f"{policy} allows {found.most} ({found.field})",
        "names": clusters_named(clusters),
    }


def rolling_back(found: Exceeded, stage: StageStatus) -> str:
    """Return the message of a run that is about to be rolled back, because a budget is exceeded."""
    return ROLLING_BACK.fill(**of_exceeded(found, stage))


def went_back(clusters: int) -> str:
    """Return how many clusters a rollback takes back, as a part of a sentence."""
    return f"{clusters} {_clusters(clusters)}"


def stays(index: str) -> str:
    """Return the message of a cluster that a rollback leaves as it is."""
    had = f"had snapshot {index} before the run" if index else "had nothing earlier to go back to"
    return STAYS.fill(had=had)


def paused(found: Exceeded, status: UpdateRunStatus, *, stage: int, why: str = "") -> str:
    """Return the message of a run that a budget has paused during a stage, by its index.

    `why` says why the run was not rolled back, if its policy wants that.
    """
    failed, of_stage = budgets.failed(status), stage_of(status, stage)
    in_stage = failed.stages.get(of_stage.stage_name, 0)
    now = in_stage if found.field == "failures.most" else failed.in_run
    text = PAUSED if now > found.most else PAUSED_STILL
    current = found.model_copy(update={"failed": now})
    said = text.fill(**of_exceeded(current, of_stage))
    return NOT_ROLLED_BACK.fill(paused=said, why=why) if why else said


def concurrent(mode: ConcurrentRuns, *, ahead: Sequence[str]) -> str:
    """Return what a new run does about the runs that are ahead of it; empty if nothing."""
    rule = _CONCURRENT.get(mode, "")
    now = f"; ahead now: {', '.join(ahead)}" if ahead else "; none is ahead now"
    return f"{rule}{now}" if rule else ""


def in_line(position: int) -> str:
    """Return a place in a line: `next`, `2nd`, `3rd`."""
    if position == 1:
        return "next"
    teens = position % 100 in (11, 12, 13)
    return f"{position}{'th' if teens else _ORDINALS.get(position % 10, 'th')}"


def queued(place: QueuePosition) -> str:
    """Return the message of a run that waits for another one."""
    return QUEUED.fill(run=place.behind, place=in_line(place.position))


def newer_run(name: str) -> str:
    """Return how texts refer to the run that replaces another; its name may have been lost."""
    return f"run {name}" if name else "a newer run"


def superseding(by: str) -> str:
    """Return the message of a run that a newer one replaces while clusters are in flight."""
    return SUPERSEDING.fill(run=newer_run(by))


def waiting_for(
    status: UpdateRunStatus, *, stuck: Collection[str], queue: QueuePosition | None = None
) -> str:
    """Return what a run waits for, in a few words; empty while it makes progress."""
    match phases.phase(status):
        case Phase.QUEUED if queue:
            return f"run {queue.behind}"
        case Phase.PLANNED:
            return "someone to start it"
        case Phase.STOPPING:
            return "clusters in flight"
        case Phase.STOPPED:
            return "someone to resume it"
        case Phase.PAUSED:
            return "someone to skip or retry clusters, or to continue it"
        case Phase.STUCK:
            order = [each.cluster_name for one in phases.stages(status) for each in one.clusters]
            return "stuck: " + clusters_named([each for each in order if each in stuck])
        case Phase.WAITING:
            return ", ".join(str(each) for each in gates.closed(status).open)
    return ""


def succeeded(status: UpdateRunStatus, *, report: str) -> str:
    """Return the message of a run that has succeeded, by what became of its clusters."""
    ends = [
        ended.reason
        for stage in phases.stages(status)
        for cluster in stage.clusters
        if (ended := phases.end_of(cluster))
    ]
    failed, left_out, gone = (
        ends.count(each)
        for each in (ClusterReason.TIMED_OUT, ClusterReason.SKIPPED, ClusterReason.LEFT)
    )
    were = "was" if left_out == 1 else "were"
    counts = ((failed, "failed"), (left_out, f"{were} skipped"), (gone, "left"))
    found = [each for each in counts if each[0]]
    if not found:
        return RunMessage.SUCCEEDED
    (number, verb), *others = found
    what = [f"{number} {_clusters(number)} {verb}", *(f"{count} {did}" for count, did in others)]
    return _ENDED.format(completed=RunMessage.COMPLETED, what=_and(what), report=report)


def _and(parts: Sequence[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def _clusters(number: int) -> str:
    return "cluster" if number == 1 else "clusters"
