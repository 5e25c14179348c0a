"""Views of runs for display: phase, progress, stages, clusters, gates.

Pure: a run in, rows out; ages are added on display, from the current time.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from api.base import Condition
from api.reasons import ConditionType, StageReason
from api.runs import ClusterStatus, RunState, StageStatus, UpdateRun
from planning import conditions
from planning.runs import gates, phases
from planning.runs.gates import Gates
from planning.runs.phases import Phase


class Progress(StrEnum):
    """Progress of a stage or a cluster."""

    AHEAD = "ahead"
    WAITING = "waiting"
    """At a gate; only for stages."""
    UPDATING = "updating"
    STOPPED = "stopped"
    DONE = "done"
    SKIPPED = "skipped"
    """A stage without clusters."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """One cluster of a stage."""

    name: str
    progress: Progress
    started: datetime | None = None
    ended: datetime | None = None
    message: str = ""
    """Why it failed."""

    def took(self, now: datetime) -> timedelta | None:
        """Return the time from its start to its end, or until now."""
        return (self.ended or now) - self.started if self.started else None


@dataclass(frozen=True, slots=True)
class StageRow:
    """One stage with its clusters."""

    name: str
    progress: Progress
    clusters: tuple[ClusterRow, ...]
    deletes: bool = False
    """Whether this is the deletion stage, which removes content from clusters no longer picked."""

    @property
    def done(self) -> int:
        """The number of its clusters that are done."""
        return sum(each.progress is Progress.DONE for each in self.clusters)

    def names(self, progress: Progress) -> list[str]:
        """Return the names of its clusters with this progress."""
        return [each.name for each in self.clusters if each.progress is progress]


@dataclass(frozen=True, slots=True)
class RunView:
    """One run, ready for display."""

    name: str
    namespace: str
    placement: str
    strategy: str
    snapshot: str
    """Index of the resource snapshot that is used or requested; may be empty."""
    state: RunState
    phase: Phase
    stages: tuple[StageRow, ...]
    gates: Gates
    conditions: tuple[Condition, ...]
    deciding: Condition | None
    """The condition that says most about where the run is; None before it is planned."""
    created: datetime | None
    up_to_date: bool = True
    """Whether the status reflects the current spec; meaningless once the run has ended."""

    @property
    def done(self) -> int:
        """The number of clusters that are done."""
        return sum(stage.done for stage in self.stages)

    @property
    def total(self) -> int:
        """The number of clusters in the plan."""
        return sum(len(stage.clusters) for stage in self.stages)

    @property
    def stage(self) -> StageRow | None:
        """The current or next stage; None if no stage is left."""
        open_ones = (s for s in self.stages if s.progress not in {Progress.DONE, Progress.SKIPPED})
        return next(open_ones, None)

    @property
    def to_be_started(self) -> bool:
        """Whether the run does nothing until a person starts or resumes it."""
        # Right after that request, the status still shows the phase from before it.
        asked = self.state is RunState.RUN
        return self.phase in {Phase.PLANNED, Phase.STOPPED} and not asked


def of(run: UpdateRun) -> RunView:
    """Return the view of a run."""
    status = run.status
    deletion = status.deletion_stage_status
    stages = [_stage(stage) for stage in status.stages_status]
    if deletion and deletion.clusters:
        stages.append(_stage(deletion, deletes=True))
    current = phases.phase(status)
    return RunView(
        name=run.metadata.name,
        namespace=run.metadata.namespace,
        placement=run.spec.placement_name,
        strategy=run.spec.staged_rollout_strategy_name,
        snapshot=status.resource_snapshot_index_used or run.spec.resource_snapshot_index,
        state=run.spec.state,
        phase=current,
        stages=tuple(stages),
        gates=gates.closed(status),
        conditions=tuple(status.conditions),
        deciding=phases.deciding(status),
        created=run.metadata.creation_timestamp,
        up_to_date=_up_to_date(run),
    )


def moved(old: RunView | None, new: RunView) -> list[tuple[StageRow, ClusterRow]]:
    """Return the clusters whose progress changed, with their stages; without `old`, those begun."""
    before = {
        (stage.name, cluster.name): cluster.progress
        for stage in (old.stages if old else ())
        for cluster in stage.clusters
    }
    return [
        (stage, cluster)
        for stage in new.stages
        for cluster in stage.clusters
        if cluster.progress is not before.get((stage.name, cluster.name), Progress.AHEAD)
    ]


def _up_to_date(run: UpdateRun) -> bool:
    generation = run.metadata.generation
    return all(each.observed_generation == generation for each in run.status.conditions)


def _stage(stage: StageStatus, *, deletes: bool = False) -> StageRow:
    return StageRow(
        name=stage.stage_name,
        progress=_stage_progress(stage),
        clusters=tuple(_cluster(each) for each in stage.clusters),
        deletes=deletes,
    )


def _stage_progress(stage: StageStatus) -> Progress:
    succeeded = conditions.find(stage.conditions, ConditionType.SUCCEEDED)
    progressing = conditions.find(stage.conditions, ConditionType.PROGRESSING)
    if succeeded is not None:
        if succeeded.reason == StageReason.SKIPPED:
            return Progress.SKIPPED
        return Progress.DONE if succeeded.status == "True" else Progress.FAILED
    if progressing is None:
        return Progress.AHEAD
    if progressing.reason == StageReason.WAITING:
        return Progress.WAITING
    return Progress.STOPPED if progressing.reason == StageReason.STOPPED else Progress.UPDATING


def _cluster(cluster: ClusterStatus) -> ClusterRow:
    started = conditions.find(cluster.conditions, ConditionType.STARTED)
    succeeded = conditions.find(cluster.conditions, ConditionType.SUCCEEDED)
    since = started.last_transition_time if started else None
    if succeeded is None:
        progress = Progress.UPDATING if started else Progress.AHEAD
        return ClusterRow(cluster.cluster_name, progress, since)
    ended = succeeded.last_transition_time
    if succeeded.status == "True":
        return ClusterRow(cluster.cluster_name, Progress.DONE, since or ended, ended)
    return ClusterRow(cluster.cluster_name, Progress.FAILED, since, ended, succeeded.message)
