"""How large a run may be: what etcd and Temporal take, and what to say of one that is larger.

A run's object holds each of its clusters. It grows while the run goes on, and once it is too large
nothing can be written into it any more, not even why. So it is known before the run begins.
"""

import json
from typing import Any, Final

from pydantic import BaseModel

from api.runs import StageStatus, UpdateRunStatus
from planning.errors import InitializationError, invalid, user

MOST_STATUS: Final = 1_400_000
"""Bytes. etcd takes 1.5 MiB of one object, of which the rest is for metadata, for the books that
the API server keeps of who wrote what, and for the text of a failure."""
MOST_PAYLOAD: Final = 1_900_000
"""Bytes. Temporal takes 2 MiB of one input or answer."""

CLUSTER: Final = 385
"""Bytes that a cluster's entry grows by until it is updated; those of a gate and of a stage follow,
and those of the run's own conditions."""
TASK: Final = 440
STAGE: Final = 510
RUN: Final = 600


def check(status: UpdateRunStatus, *, targets: BaseModel | None = None) -> None:
    """Refuse a plan whose status could not be written to its end.

    Raises:
        InitializationError: says how large it would be, and what to do about it.
    """
    final = largest(status)
    carried = final + (_size(targets.model_dump(mode="json")) if targets else 0)
    if final <= MOST_STATUS and carried <= MOST_PAYLOAD:
        return
    strategy = status.staged_update_strategy_snapshot
    if strategy and _size(strategy.to_wire()) > MOST_STATUS / 2:
        raise _too_large(
            f"its status would grow to {final} bytes, and etcd takes {MOST_STATUS} of one object; "
            "most of that is the copy of the strategy: give it fewer or shorter selectors"
        )
    clusters = sum(len(stage.clusters) for stage in _stages(status))
    possible = int(clusters * min(MOST_STATUS / final, MOST_PAYLOAD / carried))
    raise _too_large(
        f"its status would grow to {final} bytes with {clusters} clusters, and etcd takes "
        f"{MOST_STATUS} of one object: divide the placement, so that a run has at most about "
        f"{possible} clusters like these"
    )


def cut(status: UpdateRunStatus) -> None:
    """Take out of the status of a run that cannot begin what would keep it from being written."""
    if _size(status.to_wire()) > MOST_STATUS:
        status.stages_status, status.deletion_stage_status = [], None
    if _size(status.to_wire()) > MOST_STATUS:
        status.staged_update_strategy_snapshot = None


def check_payload(payload: BaseModel, *, what: str, remedy: str) -> None:
    """Refuse what Temporal would not take as an answer of an activity.

    Raises:
        InitializationError: says what is too large, and what to do about it.
    """
    size = len(payload.model_dump_json().encode())
    if size > MOST_PAYLOAD:
        raise _too_large(f"{what} are {size} bytes, and Temporal takes {MOST_PAYLOAD}: {remedy}")


def largest(status: UpdateRunStatus) -> int:
    """Bytes of a status when every cluster, gate and stage of it is done."""
    stages = _stages(status)
    tasks = (
        len(stage.before_stage_task_status) + len(stage.after_stage_task_status) for stage in stages
    )
    clusters = sum(len(stage.clusters) for stage in stages)
    grown = clusters * CLUSTER + sum(tasks) * TASK + len(stages) * STAGE + RUN
    return _size(status.to_wire()) + grown


def _stages(status: UpdateRunStatus) -> list[StageStatus]:
    deletion = status.deletion_stage_status
    return [*status.stages_status, *([deletion] if deletion else [])]


def _size(value: Any) -> int:  # noqa: ANN401  (JSON)
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


def _too_large(text: str) -> InitializationError:
    return invalid(user(f"the run is too large: {text}"))
