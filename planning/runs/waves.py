"""How a stage's clusters follow each other, and how long a run takes at the least.

contract: update-runs 8.3, 8.7
"""

from collections.abc import Iterable
from datetime import timedelta

from api.runs import StageStatus
from api.strategies import Stage, StageTaskType
from planning import durations
from planning.runs import concurrency


def of_stage(stage: Stage, entry: StageStatus) -> list[list[str]]:
    """The clusters that are updated side by side, wave after wave, if all take equally long.

    Raises RunAborted when maxConcurrency is neither a number nor a percentage.
    """
    names = [each.cluster_name for each in entry.clusters]
    size = concurrency.limit(stage.max_concurrency, clusters=len(names))
    return [names[start : start + size] for start in range(0, len(names), size)]


def approvals(stage: Stage) -> int:
    """How many approvals a stage asks for."""
    tasks = [*stage.before_stage_tasks, *stage.after_stage_tasks]
    return sum(task.type == StageTaskType.APPROVAL for task in tasks)


def wait_after(stage: Stage) -> timedelta:
    """How long a stage waits after its last cluster; zero without a TimedWait."""
    waits = [task.wait_time for task in stage.after_stage_tasks if task.wait_time]
    return max(map(durations.parse, waits), default=timedelta(0))


def least_time(stages: Iterable[Stage]) -> timedelta:
    """The timed waits of stages that have clusters, one after the other."""
    return sum(map(wait_after, stages), timedelta(0))
