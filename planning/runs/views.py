"""Views of runs for display: phase, progress, stages, clusters, gates.

Pure: a run in, rows out; ages are added on display, from the current time.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from api.base import Condition
from api.names import ROLLBACK_OF
from api.runs import ClusterStatus, RunState, StageStatus, UpdateRun, UpdateRunStatus
from planning import failures
from planning.runs import gates, phases
from planning.runs.gates import Gates
from planning.runs.phases import Phase, Progress


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """One cluster of a stage."""

    name: str
    progress: Progress
    started: datetime | None = None
    ended: datetime | None = None
    message: str = ""
    """Why it failed or was skipped."""
    timed_out: bool = False
    """Whether it failed because it took longer than its rollout policy allows."""

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
    rolls_back: str = ""
    """Name of the run that this one rolls back, as its policy says; empty if none."""
    rolled_back_by: str = ""
    """Name of the run that rolls this one back, as its policy says; empty if none."""

    @property
    def done(self) -> int:
        """The number of clusters that are done."""
        return sum(stage.done for stage in self.stages)

    @property
    def total(self) -> int:
        """The number of clusters in the plan."""
        return sum(len(stage.clusters) for stage in self.stages)

    @property
    def failed(self) -> int:
        """The number of clusters that failed and that the run continued without.

        A cluster that made the run fail is named by its end instead.
        """
        return 0 if self.phase is Phase.FAILED else self._count(Progress.FAILED)

    @property
    def skipped(self) -> int:
        """The number of clusters that the run continues without because a person decided so."""
        return self._count(Progress.SKIPPED)

    def _count(self, progress: Progress) -> int:
        return sum(len(stage.names(progress)) for stage in self.stages)

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
    return RunView(
        name=run.metadata.name,
        namespace=run.metadata.namespace,
        placement=run.spec.placement_name,
        strategy=run.spec.staged_rollout_strategy_name,
        snapshot=status.resource_snapshot_index_used or run.spec.resource_snapshot_index,
        state=run.spec.state,
        phase=phases.phase(status),
        stages=stage_rows(status),
        gates=gates.closed(status),
        conditions=tuple(status.conditions),
        deciding=phases.deciding(status),
        created=run.metadata.creation_timestamp,
        up_to_date=_up_to_date(run),
        rolls_back=run.metadata.annotations.get(ROLLBACK_OF, ""),
        rolled_back_by=_rolled_back_by(status),
    )


def _rolled_back_by(status: UpdateRunStatus) -> str:
    deciding = phases.deciding(status)
    found = failures.taken_back(deciding.message) if deciding else None
    return found["rollback"] if found else ""


def stage_rows(status: UpdateRunStatus) -> tuple[StageRow, ...]:
    """Return the stages of a run, and the deletion stage if it has clusters to remove."""
    declared = len(status.stages_status)
    return tuple(
        _stage(stage, deletes=index >= declared)
        for index, stage in enumerate(phases.stages(status))
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


def _stage(stage: StageStatus, *, deletes: bool) -> StageRow:
    return StageRow(
        name=stage.stage_name,
        progress=phases.stage_progress(stage),
        clusters=tuple(_cluster(each) for each in stage.clusters),
        deletes=deletes,
    )


def _cluster(cluster: ClusterStatus) -> ClusterRow:
    ended = phases.end_of(cluster)
    until = ended.last_transition_time if ended else None
    progress = phases.cluster_progress(cluster)
    return ClusterRow(
        cluster.cluster_name,
        progress,
        # Who wrote the end only has not written the start.
        started=phases.started_at(cluster) or (until if progress is Progress.DONE else None),
        ended=until,
        message=ended.message if ended and ended.status == "False" else "",
        timed_out=phases.has_failed(cluster),
    )
