"""Estimating how long a run will take, from how long its clusters took and its gates ask for.

Pure: a run's status and earlier durations in, an estimate out.
contract: update-runs 8.3 (maxConcurrency), 8.7 (waits)
"""

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final

from api.runs import StageStatus, UpdateRun, UpdateRunStatus
from api.strategies import Stage
from planning.runs import concurrency, gates, phases, views
from planning.runs.gates import KINDS, OpenGate, is_passed
from planning.runs.phases import ENDED, Phase, Progress
from planning.runs.views import StageRow

COUNTED: Final = 0.9
"""Share of the durations that count, shortest first: a cluster that was stuck for a night says
nothing about the others."""
RUNS_AT_MOST: Final = 3
"""Earlier runs to read: the latest are the most similar, and each may have a thousand clusters."""
ZERO: Final = timedelta(0)

_UNTOLD: Final = ENDED | {Phase.PENDING, Phase.STUCK, Phase.QUEUED}
"""Phases in which nothing is left, or no estimate is possible."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The remaining time and approvals of a run."""

    updating: timedelta | None
    """Time for updating clusters; None until a cluster's duration is known."""
    waiting: timedelta
    """Time for timed waits."""
    approvals: int
    """Number of approvals still needed; the time that people take for them is not estimated."""


def estimate(
    status: UpdateRunStatus, *, now: datetime, earlier: Sequence[timedelta] = ()
) -> Estimate | None:
    """Estimate what is left of a run, also of a stopped one; None if that is impossible.

    `earlier` are durations of clusters in other runs, used until this run has its own.
    """
    strategy = status.staged_update_strategy_snapshot
    if strategy is None or phases.phase(status) in _UNTOLD:
        return None
    rows, waits = views.stage_rows(status), gates.closed(status).waits
    stages = {stage.name: stage for stage in strategy.stages}
    # A stage without clusters is skipped, and so are its gates.
    gated = [(stages[row.name], row) for row in rows if row.clusters and row.name in stages]
    return Estimate(
        updating=_updating(rows, stages, typical([*durations(rows)] or earlier), now),
        waiting=sum((_wait(waits, stage, row, now) for stage, row in gated), ZERO),
        approvals=sum(_approvals(each) for each in status.stages_status if each.clusters),
    )


def durations(rows: Iterable[StageRow]) -> Iterator[timedelta]:
    """Yield how long each updated cluster took."""
    for stage in rows:
        for cluster in stage.clusters:
            if cluster.progress is Progress.DONE and cluster.started and cluster.ended:
                yield cluster.ended - cluster.started


def earlier_durations(
    runs: Iterable[Mapping[str, Any]], *, placement: str, strategy: str
) -> tuple[timedelta, ...]:
    """Return how long clusters took in the latest ended runs of a placement and strategy.

    `runs` are as they are on the wire.
    """
    wanted = (placement, strategy)
    alike = (
        each
        for each in runs
        if (each["spec"]["placementName"], each["spec"]["stagedRolloutStrategyName"]) == wanted
    )
    latest_first = sorted(alike, key=_created_at, reverse=True)
    ended = islice(filter(None, map(_durations_if_ended, latest_first)), RUNS_AT_MOST)
    return tuple(each for found in ended for each in found)


def _durations_if_ended(run: Mapping[str, Any]) -> list[timedelta]:
    if not phases.body_has_ended(run):
        return []
    return list(durations(views.stage_rows(UpdateRun.from_wire(run).status)))


def _created_at(run: Mapping[str, Any]) -> str:
    created: str = run["metadata"]["creationTimestamp"]
    return created


def typical(lengths: Sequence[timedelta]) -> timedelta | None:
    """Return the mean of all but the longest durations; None if there are no durations.

    Not the median: timestamps in objects are whole seconds, and a mean averages the rounding out.
    """
    counted = sorted(lengths)[: math.ceil(COUNTED * len(lengths))]
    return sum(counted, ZERO) / len(counted) if counted else None


def _updating(
    rows: Sequence[StageRow],
    stages: Mapping[str, Stage],
    each_takes: timedelta | None,
    now: datetime,
) -> timedelta | None:
    left = [row for row in rows if _has_clusters_left(row)]
    if not left or each_takes is None:
        return None if left else ZERO
    times = (_stage_time(row, _at_once(row, stages), each_takes, now) for row in left)
    return sum(times, ZERO)


def _at_once(row: StageRow, stages: Mapping[str, Stage]) -> int:
    stage, clusters = stages.get(row.name), len(row.clusters)
    # The deletion stage is not part of the strategy; it removes all its clusters at once.
    return concurrency.limit(stage.max_concurrency, clusters=clusters) if stage else clusters


def _stage_time(row: StageRow, at_once: int, each_takes: timedelta, now: datetime) -> timedelta:
    """Return the time until all clusters of a stage are done; each free slot takes the next one."""
    in_flight = [each for each in row.clusters if each.progress is Progress.UPDATING]
    slots = [max(each_takes - (each.took(now) or ZERO), ZERO) for each in in_flight]
    slots += [ZERO] * (at_once - len(slots))
    heapq.heapify(slots)
    for _ in row.names(Progress.AHEAD):
        heapq.heapreplace(slots, slots[0] + each_takes)
    return max(slots)


def _wait(open_waits: Sequence[OpenGate], stage: Stage, row: StageRow, now: datetime) -> timedelta:
    """Return what is left of the timed wait after a stage."""
    if _has_clusters_left(row):
        return wait_after(stage)
    left = (gate.left(now) for gate in open_waits if gate.stage == row.name)
    return next(left, ZERO)


def _has_clusters_left(row: StageRow) -> bool:
    return any(each.progress in (Progress.AHEAD, Progress.UPDATING) for each in row.clusters)


def _approvals(stage: StageStatus) -> int:
    """Return how many approvals a stage still needs."""
    tasks = [*stage.before_stage_task_status, *stage.after_stage_task_status]
    return sum(KINDS[task.type].by_person and not is_passed(task) for task in tasks)


# -- of a run that is only planned ---------------------------------------------------------


def waves(stage: Stage, entry: StageStatus) -> list[list[str]]:
    """Return the waves of clusters that are updated side by side, if all take equally long.

    Raises RunAborted if maxConcurrency is neither a number nor a percentage.
    """
    names = [each.cluster_name for each in entry.clusters]
    size = concurrency.limit(stage.max_concurrency, clusters=len(names))
    return [names[start : start + size] for start in range(0, len(names), size)]


def approvals_of(stage: Stage) -> int:
    """Return how many gates of a stage need a person."""
    tasks = [*stage.before_stage_tasks, *stage.after_stage_tasks]
    return sum(KINDS[task.type].by_person for task in tasks)


def wait_after(stage: Stage) -> timedelta:
    """Return how long a stage waits after its last cluster; zero without a TimedWait."""
    waits = (KINDS[task.type].least_time(task) for task in stage.after_stage_tasks)
    return max(waits, default=timedelta(0))


def least_time(stages: Iterable[Stage]) -> timedelta:
    """Return the sum of the stages' timed waits; `stages` are those that have clusters."""
    return sum(map(wait_after, stages), timedelta(0))
