"""Rules for a run's status, checked for each write.

contract: update-runs 5 (types and reasons), 8.9 (what a success looks like)
"""

from collections.abc import Callable, Iterator
from typing import Final

from hub import Json
from tests.conformance.vocabulary import Says
from tests.soak.orders import End
from tests.soak.trails import Case
from tests.support.conditions import condition_of

Said = tuple[str, str, str]
"""Type, status and reason of a condition."""
Path = tuple[str, ...]
"""What a condition is about: the run, a stage, a cluster, a task."""

KNOWN: Final = {
    what: frozenset(
        (row.value.type, row.value.status, row.value.reason)
        for row in Says
        if row.name.startswith(what.upper())
    )
    for what in ("run", "stage", "cluster", "task")
}
"""The contract's conditions, by what they are about."""
_SUCCESS: Final = {
    "run": (Says.RUN_INITIALIZED, Says.RUN_COMPLETED, Says.RUN_SUCCEEDED),
    "stage": (Says.STAGE_COMPLETED, Says.STAGE_SUCCEEDED),
    "cluster": (Says.CLUSTER_STARTED, Says.CLUSTER_SUCCEEDED),
    "TimedWait": (Says.TASK_WAITED,),
    "Approval": (Says.TASK_CREATED, Says.TASK_APPROVED),
}
"""The final conditions of each part of a successful run; those of a task by its type."""

_MOVING: Final = "Progressing"
"""The only type of condition that changes more than once; one write may skip some changes."""

_SHOWN: Final = 3
"""Maximum number of changes named for one write."""


def parts(run: Json) -> Iterator[tuple[Path, Json]]:
    """Yield everything in a run's status that has conditions, with its path."""
    status = run.get("status", {})
    yield ("run",), status
    for each in [*status.get("stagesStatus", []), status.get("deletionStageStatus", {})]:
        name = each.get("stageName", "")
        yield ("stage", name), each
        for one in each.get("clusters", []):
            yield ("cluster", name, one["clusterName"]), one
        for side in ("before", "after"):
            for task in each.get(f"{side}StageTaskStatus", []):
                yield ("task", name, side, task["type"]), task


def stage(run: Json, name: str) -> Json:
    """Return the status of a stage; empty if it does not exist."""
    return dict(parts(run)).get(("stage", name), {})


def cluster(run: Json, name: str) -> Json:
    """Return the status of a cluster; empty if it is in no stage."""
    return next((each for path, each in parts(run) if path[::2] == ("cluster", name)), {})


def planned_as_asked(case: Case) -> Iterator[str]:
    """Check that the stages have the requested clusters in every write that has a plan."""
    wanted = {name: list(clusters) for name, clusters in case.stages.items()}
    for write in case.statuses:
        listed = (write.body or {}).get("status", {}).get("stagesStatus")
        if listed is None:
            continue
        found = {
            each["stageName"]: [one["clusterName"] for one in each["clusters"]] for each in listed
        }
        if found != wanted:
            yield f"{write.by}: the plan is {found}"
            return


def only_known_conditions(case: Case) -> Iterator[str]:
    """Check that every condition is one of the contract."""
    unknown: dict[str, None] = {}
    for write in case.statuses:
        for path, part in parts(write.body or {}):
            for each in part.get("conditions", []):
                if (each["type"], each["status"], each["reason"]) not in KNOWN[path[0]]:
                    unknown[f"{'/'.join(path)}: {each}"] = None
    yield from unknown


def never_back(case: Case) -> Iterator[str]:
    """Check that nothing final changes from one write to the next."""
    yield from _changes(case, _taken_back)


def times_stay(case: Case) -> Iterator[str]:
    """Check that the transition time of a condition changes only with its status."""
    yield from _changes(case, _moved)


def _changes(case: Case, find: Callable[[Json, Json], Iterator[str]]) -> Iterator[str]:
    before: dict[Path, Json] = {}
    for write in case.statuses:
        now = dict(parts(write.body or {}))
        changes = [
            f"{'/'.join(path)} {change}"
            for path, old in before.items()
            for change in find(old, now.get(path, {}))
        ]
        if changes:
            more = f" and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
            yield f"{write.by}: {'; '.join(changes[:_SHOWN])}{more}"
        before = now


def _taken_back(old: Json, new: Json) -> Iterator[str]:
    for name in ("startTime", "endTime", "resourceSnapshotIndexUsed", "policySnapshotIndexUsed"):
        if name in old and old[name] != new.get(name):
            yield f"changed {name} from {old[name]} to {new.get(name)}"
    for condition in old.get("conditions", []):
        kind = condition["type"]
        found = condition_of({"conditions": new.get("conditions", [])}, kind)
        if not found:
            yield f"lost {kind}"
        elif kind != _MOVING and found["status"] != condition["status"]:
            yield f"changed {kind} from {condition['status']} to {found['status']}"
        elif found.get("observedGeneration", 0) < condition.get("observedGeneration", 0):
            yield f"{kind} has an older generation"


def _moved(old: Json, new: Json) -> Iterator[str]:
    for condition in old.get("conditions", []):
        kind, status = condition["type"], condition["status"]
        found = condition_of({"conditions": new.get("conditions", [])}, kind)
        moved = found.get("status") == status and _time(found) != _time(condition)
        if moved and kind != _MOVING:
            yield f"moved {kind} from {_time(condition)} to {_time(found)}"


def _time(condition: Json) -> str:
    moment: str = condition["lastTransitionTime"]
    return moment


def complete(case: Case) -> Iterator[str]:
    """Check that a successful run has every condition of a success."""
    if case.order.end is not End.SUCCESS:
        return
    for path, part in parts(case.last):
        found = {
            (each["type"], each["status"], each["reason"]) for each in part.get("conditions", [])
        }
        if missing := _of_success(path) - found:
            yield f"{'/'.join(path)} lacks {sorted(missing)}"
        elif extra := found - _of_success(path):
            yield f"{'/'.join(path)} also has {sorted(extra)}"


def _of_success(path: Path) -> set[Said]:
    rows = _SUCCESS[path[-1] if path[0] == "task" else path[0]]
    return {(each.value.type, each.value.status, each.value.reason) for each in rows}
