"""Size limits of runs, set by etcd and Temporal, and the errors for larger ones.

A run's object has an entry for each cluster and grows while the run progresses. Once it is too
large, nothing can be written to it any more, not even the reason. So it is checked beforehand.
"""

import json
from collections.abc import Iterable
from itertools import accumulate, takewhile
from typing import Any, Final

from pydantic import BaseModel

from api.base import ApiModel
from api.runs import ClusterStatus, UpdateRunStatus
from planning import failures
from planning.runs.ledger import all_stages

MOST_STATUS: Final = 1_400_000
"""Bytes. etcd accepts 1.5 MiB per object; the rest is for metadata, managed fields and the text of
a failure."""
MOST_PAYLOAD: Final = 1_900_000
"""Bytes. Temporal accepts 2 MiB per input or result."""

MOST_LISTED: Final = 200 * 1024
"""Bytes of the list of clusters in a report, which is written often; the whole stays below 256 KiB.
"""

CLUSTER: Final = 385
"""Bytes that a cluster's entry grows by until it is updated; then those of a gate, of a stage and
of the run's own conditions."""
TASK: Final = 440
STAGE: Final = 510
RUN: Final = 600


def check(status: UpdateRunStatus, *, targets: BaseModel | None = None) -> None:
    """Reject a plan whose status would grow too large to be written.

    Raises:
        InitializationError: the plan is too large; says how large, and what to do about it.
    """
    final = largest(status)
    carried = final + (_size(targets.model_dump(mode="json")) if targets else 0)
    if final <= MOST_STATUS and carried <= MOST_PAYLOAD:
        return
    strategy = status.staged_update_strategy_snapshot
    if strategy and _size(strategy.to_wire()) > MOST_STATUS / 2:
        raise failures.STRATEGY_TOO_LARGE.error(size=final, most=MOST_STATUS)
    clusters = sum(len(stage.clusters) for stage in all_stages(status))
    possible = int(clusters * min(MOST_STATUS / final, MOST_PAYLOAD / carried))
    raise failures.RUN_TOO_LARGE.error(
        why=f"its status would grow to {final} bytes with {clusters} clusters, and etcd accepts at "
        f"most {MOST_STATUS} per object",
        remedy=f"divide the placement, so that a run has at most about {possible} clusters like "
        "these",
    )


def room(status: UpdateRunStatus, *, targets: BaseModel) -> int:
    """Return how many bytes of clusters can still be added to a run; negative if none can."""
    final = largest(status)
    carried = final + _size(targets.model_dump(mode="json"))
    return min(MOST_STATUS - final, MOST_PAYLOAD - carried)


def grown(cluster: ClusterStatus) -> int:
    """Return the size in bytes of a cluster that is not updated yet once it is."""
    return _size(cluster.to_wire()) + CLUSTER + 1


def cut(status: UpdateRunStatus) -> None:
    """Remove from the status of a run that cannot start what is too large to be written."""
    if _size(status.to_wire()) > MOST_STATUS:
        status.stages_status, status.deletion_stage_status = [], None
    if _size(status.to_wire()) > MOST_STATUS:
        status.staged_update_strategy_snapshot = None


def how_many_fit(found: Iterable[ApiModel], *, most: int) -> int:
    """Return how many of the first ones fit into so many bytes."""
    sizes = accumulate(_size(each.to_wire()) + 1 for each in found)
    return sum(1 for _ in takewhile(lambda size: size <= most, sizes))


def check_payload(payload: BaseModel, *, what: str, remedy: str) -> None:
    """Reject a payload that Temporal would not accept as the result of an activity.

    Raises:
        InitializationError: the payload is too large; says what it is, and what to do about it.
    """
    size = len(payload.model_dump_json().encode())
    if size > MOST_PAYLOAD:
        why = f"{what} are {size} bytes, and Temporal accepts at most {MOST_PAYLOAD}"
        raise failures.RUN_TOO_LARGE.error(why=why, remedy=remedy)


def largest(status: UpdateRunStatus) -> int:
    """Return the size in bytes of a status once all its clusters, gates and stages are done."""
    stages = all_stages(status)
    tasks = (
        len(stage.before_stage_task_status) + len(stage.after_stage_task_status) for stage in stages
    )
    clusters = sum(len(stage.clusters) for stage in stages)
    grown = clusters * CLUSTER + sum(tasks) * TASK + len(stages) * STAGE + RUN
    return _size(status.to_wire()) + grown


def _size(value: Any) -> int:  # noqa: ANN401  (JSON)
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())
