"""The report of a run: what the rules of its policies came to.

It lists clusters that were not simply updated, and counts the rest, so it stays small.

policies: 2.2
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from pydantic import Field

from api.base import Condition, ConditionStatus
from api.reasons import ConditionType
from api.rollout_reports import (
    ClusterOutcome,
    ClusterReport,
    QueuePosition,
    RollbackCause,
    RollbackReport,
    RolloutReportStatus,
    StageReport,
)
from api.runs import ClusterStatus, StageStatus, UpdateRunStatus
from planning import conditions, signatures
from planning.policies import resolving, texts
from planning.policies.budgets import Failures
from planning.runs import estimating, phases, sizes
from planning.runs.facts import Fact
from planning.runs.phases import Phase, Progress
from planning.runs.rules import RunRules, share

NO_FAILURES: Final = Failures()
PAUSED: Final = "Paused"
"""Type of the condition of a report while a failure budget pauses the run."""
_SETBACKS: Final = frozenset(
    {
        ClusterOutcome.RETRYING,
        ClusterOutcome.RECOVERED,
        ClusterOutcome.FAILED,
        ClusterOutcome.SKIPPED,
    }
)
"""What the engine remembers of a cluster, and does not only read from the run's status."""
_MOVES: Final = (ClusterOutcome.LEFT, ClusterOutcome.JOINED, ClusterOutcome.NOT_UPDATED)
_GOES_ON: Final = frozenset({Phase.RUNNING, Phase.WAITING})
"""Phases of a run that comes to its end by itself, unless it needs an approval."""


class Setback(Fact):
    """What a run remembers of a cluster that was not simply updated."""

    attempts: int = 1
    """How often the cluster was handed out."""
    since: datetime
    """When the last thing happened to it, other than that it was updated."""
    by: str = ""
    """Who decided about it last; empty if no one did."""
    comment: str = ""
    """What they said."""


class Move(Fact):
    """What a run remembers of a cluster that left or joined it."""

    outcome: ClusterOutcome
    """Left, Joined or NotUpdated."""
    stage: str = ""
    reason: str
    message: str
    since: datetime


class Remembered(Fact):
    """What the report of a run says that its status does not, for a workflow that is lost."""

    rules: RunRules = RunRules()
    accepted: Failures = Failures()
    """Failures that a person accepted by continuing the run."""
    setbacks: dict[str, Setback] = Field(default_factory=dict)
    """What happened to clusters that were not simply updated, by name."""
    moves: dict[str, Move] = Field(default_factory=dict)
    """Clusters that left or joined the run, by name."""


def remembered(report: RolloutReportStatus) -> Remembered:
    """Read a run's report."""
    rolls_back = report.rollback.of if report.rollback else ""
    return Remembered(
        rules=resolving.recorded(report.policy, rolls_back=rolls_back),
        accepted=Failures(
            stages={each.name: each.accepted for each in report.stages if each.accepted},
            in_run=report.accepted,
        ),
        setbacks=_setbacks(report.clusters),
        moves=_moves(report.clusters),
    )


def _setbacks(found: Iterable[ClusterReport]) -> dict[str, Setback]:
    """Return what the report says of clusters; those only stuck, or in no stage, had no setback."""
    return {
        each.name: Setback(
            attempts=each.attempt, since=each.since, by=each.by, comment=each.comment
        )
        for each in found
        if each.outcome in _SETBACKS
    }


def _moves(found: Iterable[ClusterReport]) -> dict[str, Move]:
    """Return what the report says of clusters that left or joined."""
    return {
        each.name: Move(
            outcome=each.outcome,
            stage=each.stage,
            reason=each.reason,
            message=each.message,
            since=each.since,
        )
        for each in found
        if each.outcome in _MOVES
    }


class Undone(Fact):
    """The run that rolls this one back."""

    run: str
    """Its name."""
    at: datetime
    """When it was created."""
    stay: dict[str, str] = Field(default_factory=dict)
    """Clusters that it leaves as they are, each with the index it had before; empty if none."""


NO_MOVES: Final[Mapping[str, Move]] = MappingProxyType({})


def report(
    status: UpdateRunStatus,
    rules: RunRules,
    *,
    setbacks: Mapping[str, Setback],
    accepted: Failures = NO_FAILURES,
    undone: Undone | None = None,
    stuck: frozenset[str] = frozenset(),
    moves: Mapping[str, Move] = NO_MOVES,
    queue: QueuePosition | None = None,
    cluster_takes: timedelta | None = None,
    now: datetime,
) -> RolloutReportStatus:
    """Return the report of a run with this status.

    Args:
        status: the run's.
        rules: what applies to it.
        setbacks: what happened to clusters, by name.
        accepted: failures that a person accepted by continuing the run.
        undone: the run that rolls this one back; None if none does.
        stuck: clusters in flight that take too long.
        moves: clusters that left or joined, by name.
        queue: its place among runs that wait for each other.
        cluster_takes: how long a cluster took in earlier runs; None if unknown.
        now: the current time.
    """
    stages = phases.stages(status)
    clusters = set_back(status, setbacks=setbacks, moves=moves, stuck=stuck)
    outcomes = [each.outcome for each in clusters]
    clusters += [
        _moved(name, move)
        for name, move in moves.items()
        if move.outcome is ClusterOutcome.NOT_UPDATED
    ]
    left_alone = _left_alone(stages, undone) if undone else []
    replaced = {each.name for each in left_alone}
    clusters = [each for each in clusters if each.name not in replaced] + left_alone
    listed = _listed(clusters)
    return RolloutReportStatus(
        queue=queue,
        policy=rules.fields,
        stages=[each for stage in stages if (each := _stage(stage, rules, accepted))],
        clusters=listed,
        not_listed=len(clusters) - len(listed),
        failed=outcomes.count(ClusterOutcome.FAILED),
        skipped=outcomes.count(ClusterOutcome.SKIPPED),
        accepted=accepted.in_run,
        rollback=_rollback(rules, undone),
        waiting_for=texts.waiting_for(status, stuck=stuck, queue=queue),
        expected_end=_expected_end(status, cluster_takes, now),
        conditions=_paused(status),
    )


def _listed(clusters: list[ClusterReport]) -> list[ClusterReport]:
    """Return as many clusters as fit into a report; those that only left or joined give way."""
    by_weight = sorted(clusters, key=lambda each: each.outcome in _MOVES)
    fitting = sizes.how_many_fit(by_weight, most=sizes.MOST_LISTED)
    if fitting == len(clusters):
        return clusters
    kept = {each.name for each in by_weight[:fitting]}
    return [each for each in clusters if each.name in kept]


def _rollback(rules: RunRules, undone: Undone | None) -> RollbackReport | None:
    if undone:
        return RollbackReport(run=undone.run, cause=RollbackCause.FAILURES)
    return RollbackReport(of=rules.rolls_back) if rules.rolls_back else None


def _left_alone(stages: Sequence[StageStatus], undone: Undone) -> list[ClusterReport]:
    """Return the clusters that a rollback leaves as they are."""
    return [
        ClusterReport(
            name=each.cluster_name,
            stage=stage.stage_name,
            outcome=ClusterOutcome.NOT_ROLLED_BACK,
            since=undone.at,
            message=texts.stays(undone.stay[each.cluster_name]),
            previous_index=undone.stay[each.cluster_name],
        )
        for stage in stages
        for each in stage.clusters
        if each.cluster_name in undone.stay
    ]


def _paused(status: UpdateRunStatus) -> list[Condition]:
    """Return the condition Paused of a run that a failure budget has paused."""
    found = conditions.find(status.conditions, ConditionType.PROGRESSING)
    if found is None or phases.phase(status) is not Phase.PAUSED:
        return []
    return [found.model_copy(update={"type": PAUSED, "status": ConditionStatus.TRUE})]


def set_back(
    status: UpdateRunStatus,
    *,
    setbacks: Mapping[str, Setback],
    moves: Mapping[str, Move] = NO_MOVES,
    stuck: frozenset[str] = frozenset(),
) -> list[ClusterReport]:
    """Return the clusters of the stages that were not simply updated, in the stages' order."""
    return [
        found
        for stage in phases.stages(status)
        for each in stage.clusters
        if (found := _entry(each, stage.stage_name, setbacks, moves, stuck))
    ]


def _stage(stage: StageStatus, rules: RunRules, accepted: Failures) -> StageReport | None:
    name, failed = stage.stage_name, sum(map(phases.has_failed, stage.clusters))
    limited = name in rules.stages
    of_stage = accepted.stages.get(name, 0)
    if not (failed or limited or of_stage):
        return None
    most = share(rules.of_stage(name).most, of=len(stage.clusters))
    return StageReport(name=name, failed=failed, most=most if limited else None, accepted=of_stage)


def _expected_end(
    status: UpdateRunStatus, cluster_takes: timedelta | None, now: datetime
) -> datetime | None:
    """Return when the run is likely to end; None if that depends on people or is not known."""
    if phases.phase(status) not in _GOES_ON:
        return None
    earlier = [cluster_takes] if cluster_takes else []
    left = estimating.estimate(status, now=now, earlier=earlier)
    if left is None or left.updating is None or left.approvals:
        return None
    return (now + left.updating + left.waiting).replace(microsecond=0)


def _entry(
    cluster: ClusterStatus,
    stage: str,
    setbacks: Mapping[str, Setback],
    moves: Mapping[str, Move],
    stuck: frozenset[str],
) -> ClusterReport | None:
    name = cluster.cluster_name
    move = moves.get(name)
    if move and move.outcome is ClusterOutcome.LEFT:
        return _moved(name, move)
    found = _cluster(cluster, stage, setbacks.get(name), stuck)
    return found or (_moved(name, move) if move else None)


def _moved(name: str, move: Move) -> ClusterReport:
    return ClusterReport(
        name=name,
        stage=move.stage,
        outcome=move.outcome,
        since=move.since,
        reason=move.reason,
        message=move.message,
    )


def _cluster(
    cluster: ClusterStatus, stage: str, setback: Setback | None, stuck: frozenset[str]
) -> ClusterReport | None:
    name = cluster.cluster_name
    started = conditions.find(cluster.conditions, ConditionType.STARTED)
    ended = phases.end_of(cluster)
    outcome = _outcome(phases.cluster_progress(cluster), setback, is_stuck=name in stuck)
    since = ended or started
    if outcome is None or not (setback or since):
        return None
    moment = setback.since if setback else since.last_transition_time if since else None
    assert moment is not None, "checked above"
    return ClusterReport(
        name=name,
        stage=stage,
        outcome=outcome,
        attempt=setback.attempts if setback else 1,
        since=moment,
        reason=ended.reason if ended else "",
        message=ended.message if ended else "",
        by=setback.by if setback else "",
        comment=setback.comment[: signatures.MAX_SAID] if setback else "",
    )


def _outcome(
    progress: Progress, setback: Setback | None, *, is_stuck: bool
) -> ClusterOutcome | None:
    """Return what happened to a cluster; None if it was updated at the first attempt, or may be."""
    match progress:
        case Progress.FAILED:
            return ClusterOutcome.FAILED
        case Progress.SKIPPED:
            return ClusterOutcome.SKIPPED
        case Progress.LEFT:
            return ClusterOutcome.LEFT
        case Progress.DONE:
            return ClusterOutcome.RECOVERED if setback else None
        case Progress.AHEAD | Progress.UPDATING if setback:
            return ClusterOutcome.RETRYING
        case Progress.UPDATING if is_stuck:
            return ClusterOutcome.STUCK
    return None
