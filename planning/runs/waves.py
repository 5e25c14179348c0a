"""Waves of clusters in a stage, its approvals, and the minimum duration of a run.

contract: update-runs 8.3, 8.7
"""

from collections.abc import Iterable
from datetime import timedelta

from api.runs import StageStatus
from api.strategies import Stage
from planning.runs import concurrency
from planning.runs.gates import KINDS


def of_stage(stage: Stage, entry: StageStatus) -> list[list[str]]:
    """Return the waves of clusters that are updated side by side, if all take equally long.

    Raises RunAborted if maxConcurrency is neither a number nor a percentage.
    """
    names = [each.cluster_name for each in entry.clusters]
    size = concurrency.limit(stage.max_concurrency, clusters=len(names))
    return [names[start : start + size] for start in range(0, len(names), size)]


def approvals(stage: Stage) -> int:
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
