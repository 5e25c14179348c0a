"""A run's status in memory, and the parts of it that are not on the hub yet.

The workflow keeps one ledger, changes it with the functions of `planning.runs.marks`, and writes
the dirty parts to the hub. The size of a patch follows what changed, not the run (decision record
0002).
"""

from datetime import datetime
from typing import Any, Final

from api.base import Condition
from api.runs import ClusterStatus, StageStatus, StageTaskStatus, UpdateRunStatus
from planning import conditions
from planning.runs.gates import Side

DELETION: Final = -1
"""Index of the deletion stage, which runs after all others."""

MOST_OPERATIONS: Final = 100
"""Operations in one patch, about 55 KiB. A thousand clusters that change at once would be ten times
as much, which burdens the API server and etcd more than ten small writes."""

Patch = list[dict[str, Any]]

_ATTRIBUTES: Final = {
    "conditions": "conditions",
    "startTime": "start_time",
    "endTime": "end_time",
    "beforeStageTaskStatus": "before_stage_task_status",
    "afterStageTaskStatus": "after_stage_task_status",
}


class Ledger:
    """Status of one run, with its observed generation and the paths that changed."""

    def __init__(self, status: UpdateRunStatus, *, generation: int) -> None:
        self.status = status
        self.generation = generation
        # A dict keeps the order in which things changed; a set would not replay.
        self._dirty: dict[str, None] = {}
        self._added: dict[str, None] = {}
        """Those of the dirty paths that the hub does not have yet."""
        self.changes = 0
        """Number of changes so far, for others to notice new ones."""
        self.closed = False
        """True once the end of the run is recorded: later changes have no effect."""

    # -- reading ---------------------------------------------------------------------------

    @property
    def stages(self) -> list[StageStatus]:
        """All stages in order, except the deletion stage."""
        return self.status.stages_status

    def stage(self, index: int) -> StageStatus:
        """Return the stage at an index; `DELETION` is the deletion stage."""
        return stage_of(self.status, index)

    @property
    def dirty(self) -> bool:
        """True when the status has changes that are not on the hub yet."""
        return bool(self._dirty)

    # -- changing --------------------------------------------------------------------------

    def close(self) -> None:
        """Reject all further changes."""
        self.closed = True

    def put_run(self, kind: str, status: str, reason: str, message: str, now: datetime) -> None:
        """Set a condition of the run."""
        if self._put(self.status.conditions, kind, status, reason, message, now):
            self.touch("/conditions")

    def put_stage(
        self, index: int, kind: str, status: str, reason: str, message: str, now: datetime
    ) -> None:
        """Set a condition of a stage."""
        stage = self.stage(index)
        if self._put(stage.conditions, kind, status, reason, message, now):
            self.touch(f"{_stage_path(index)}/conditions")

    def put_cluster(
        self,
        index: int,
        position: int,
        kind: str,
        status: str,
        reason: str,
        message: str,
        now: datetime,
    ) -> None:
        """Set a condition of the cluster at a position of a stage."""
        cluster = self.cluster(index, position)
        if self._put(cluster.conditions, kind, status, reason, message, now):
            self.touch(f"{_stage_path(index)}/clusters/{position}")

    def add_cluster(self, index: int, cluster: ClusterStatus) -> None:
        """Add a cluster at the end of a stage."""
        if self.closed:
            return
        clusters = self.stage(index).clusters
        clusters.append(cluster)
        path = f"{_stage_path(index)}/clusters/{len(clusters) - 1}"
        self._added[path] = None
        self.touch(path)

    def put_task(
        self,
        index: int,
        side: Side,
        position: int,
        kind: str,
        reason: str,
        message: str,
        now: datetime,
    ) -> None:
        """Set a condition of a stage's task to True; task conditions have no other status."""
        task = self.task(index, side, position)
        if self._put(task.conditions, kind, "True", reason, message, now):
            self.touch(f"{_stage_path(index)}/{side}StageTaskStatus")

    def set_times(
        self, index: int, *, start: datetime | None = None, end: datetime | None = None
    ) -> None:
        """Record when a stage started (only the first time counts) and when it ended."""
        if self.closed:
            return
        stage = self.stage(index)
        if start and not stage.start_time:
            stage.start_time = start.replace(microsecond=0)
            self.touch(f"{_stage_path(index)}/startTime")
        if end:
            stage.end_time = end.replace(microsecond=0)
            self.touch(f"{_stage_path(index)}/endTime")

    def observe(self, generation: int) -> None:
        """Set the observed generation of every condition, so that all results stay valid.

        contract: update-runs 6, step 2
        """
        if self.closed or generation == self.generation:
            return
        self.generation = generation
        self._speak_of_generation()

    def begin_at(self, generation: int) -> None:
        """Set the observed generation of conditions to come."""
        self.generation = generation

    def keep(self, status: UpdateRunStatus) -> None:
        """Hold a final status that is on the hub already: there is nothing to write."""
        self.status = status

    def recall(self, status: UpdateRunStatus) -> None:
        """Resume from the status that an earlier writer left on the hub."""
        self.status = status
        self._speak_of_generation()

    def _speak_of_generation(self) -> None:
        for each in self._all_conditions():
            each[:] = [
                condition.model_copy(update={"observed_generation": self.generation})
                for condition in each
            ]
        self.touch("")

    def touch(self, path: str) -> None:
        """Mark the status below a path as dirty; `""` is the whole status."""
        self._dirty[path] = None
        self.changes += 1

    def cluster(self, index: int, position: int) -> ClusterStatus:
        """Return the cluster at a position of a stage."""
        return self.stage(index).clusters[position]

    def find(self, cluster: str) -> tuple[int, int]:
        """Return the stage and the position of a cluster of the run. Raises LookupError."""
        for index in (*range(len(self.stages)), DELETION):
            for position, each in enumerate(self.stage(index).clusters):
                if each.cluster_name == cluster:
                    return index, position
        raise LookupError(cluster)

    def task(self, index: int, side: Side, position: int) -> StageTaskStatus:
        """Return the task at a position before or after a stage."""
        return self.tasks(index, side)[position]

    def tasks(self, index: int, side: Side) -> list[StageTaskStatus]:
        """Return the tasks before or after a stage."""
        stage = self.stage(index)
        return stage.before_stage_task_status if side == "before" else stage.after_stage_task_status

    # -- mirroring -------------------------------------------------------------------------

    def take_patch(self) -> Patch:
        """Take the JSON patch of the dirty parts, oldest first; the caller must write it.

        What does not fit into one write stays dirty.
        """
        if "" in self._dirty:
            self._dirty, self._added = {}, {}
            return [{"op": "add", "path": "/status", "value": self.status.to_wire()}]
        paths = list(self._dirty)[:MOST_OPERATIONS]
        for path in paths:
            del self._dirty[path]
        return [self._operation(path) for path in paths]

    def _operation(self, path: str) -> dict[str, Any]:
        # "add" replaces a field of an object but inserts into a list, where "replace" is right.
        listed = path.rsplit("/", 1)[-1].isdigit()
        is_new = path in self._added
        self._added.pop(path, None)
        return {
            "op": "replace" if listed and not is_new else "add",
            "path": f"/status{path}",
            "value": self._value(path),
        }

    def _value(self, path: str) -> Any:  # noqa: ANN401  (JSON)
        section, *rest = path.strip("/").split("/")
        if section == "conditions":
            return [each.to_wire() for each in self.status.conditions]
        stage = self.stage(DELETION if section == "deletionStageStatus" else int(rest.pop(0)))
        field, *position = rest
        if position:
            return stage.clusters[int(position[0])].to_wire()
        # Only this field: a stage may have a thousand clusters.
        attribute = _ATTRIBUTES[field]
        return stage.model_dump(mode="json", include={attribute})[field]

    def _put(
        self,
        into: list[Condition],
        kind: str,
        status: str,
        reason: str,
        message: str,
        now: datetime,
    ) -> bool:
        if self.closed:
            return False
        made = conditions.make(kind, status, reason, message, generation=self.generation, now=now)
        return conditions.put(into, made)

    def _all_conditions(self) -> list[list[Condition]]:
        found: list[list[Condition]] = [self.status.conditions]
        for stage in all_stages(self.status):
            found.append(stage.conditions)
            found += [each.conditions for each in stage.clusters]
            found += [each.conditions for each in stage.before_stage_task_status]
            found += [each.conditions for each in stage.after_stage_task_status]
        return found


def all_stages(status: UpdateRunStatus) -> list[StageStatus]:
    """Return all stages, with the deletion stage, if there is one yet, as the last."""
    deletion = status.deletion_stage_status
    return [*status.stages_status, *([deletion] if deletion else [])]


def stage_of(status: UpdateRunStatus, index: int) -> StageStatus:
    """Return a stage of an initialized run; `DELETION` is the deletion stage."""
    if index != DELETION:
        return status.stages_status[index]
    found = status.deletion_stage_status
    assert found is not None, "an initialized run has a deletion stage"
    return found


def _stage_path(index: int) -> str:
    return "/deletionStageStatus" if index == DELETION else f"/stagesStatus/{index}"
