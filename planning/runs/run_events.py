"""Events of a run, decided by comparing its status before and after.

A state that came and went between two comparisons leaves no event.

contract: decision 13
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from api.base import Condition, ConditionStatus
from api.reasons import ConditionType, RunReason, StageReason, clusters_named
from api.rollout_reports import ClusterOutcome, ClusterReport
from api.runs import RunState, StageStatus, UpdateRunStatus
from api.strategies import Stage
from api.texts import Text
from planning import conditions, durations, failures, signatures
from planning.events import Event, EventType
from planning.identity import RunRef
from planning.runs import concurrency, gates, phases
from planning.runs.approval_events import Given
from planning.runs.gates import Side, Where
from planning.runs.phases import Phase
from planning.runs.steering import Steered

NORMAL, WARNING = EventType.NORMAL, EventType.WARNING


class EventReason(StrEnum):
    """Reasons of the events of a run."""

    INITIALIZED = "Initialized"
    ADOPTED = "Adopted"
    PLACEMENT_AWAITED = "PlacementAwaited"
    STATUS_REFUSED = "StatusRefused"
    STAGE_STARTED = "StageStarted"
    WAITING = "Waiting"
    APPROVED = "Approved"
    STUCK = "Stuck"
    CLUSTER_RETRIED = "ClusterRetried"
    CLUSTER_FAILED = "ClusterFailed"
    CLUSTER_SKIPPED = "ClusterSkipped"
    CLUSTER_RECOVERED = "ClusterRecovered"
    PAUSED = "Paused"
    CONTINUED = "Continued"
    ROLLED_BACK = "RolledBack"
    STOPPED = "Stopped"
    RESUMED = "Resumed"
    QUEUED = "Queued"
    ADMITTED = "Admitted"
    SUPERSEDED = "Superseded"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"


PLANNED: Final = Text("Planned {clusters} in {stages}, for resource snapshot {index}")
PLANNED_ONLY: Final = Text(f"{PLANNED.template}; set spec.state to Run to start")
"""Of a run that does not start by itself."""
STAGE_STARTED: Final = Text("Stage {stage} started: {clusters}")
RESUMING: Final = Text("resuming from what the hub recorded: {progress}")
ADOPTED: Final = Text(f"Temporal no longer knew this run; {RESUMING.template}")
ROLLED_BACK: Final = Text(f"The update run is rolled back: {failures.TAKES_BACK.template}")
UNSTEERED: Final = Steered()
CLUSTERS_ONE_BY_ONE: Final = 10
"""Clusters of a stage to which the same happens at once that have an event each; more than these
share one event, because a time limit may end for hundreds of them at the same moment."""


@dataclass(frozen=True, slots=True)
class EventState:
    """State of a run, as far as its events show it."""

    phase: Phase
    initialized: Condition | None
    progressing: Condition | None
    succeeded: Condition | None
    started: tuple[int, ...]
    """Positions of the stages that have started their clusters; the deletion stage comes last."""
    desired: RunState
    asked: Steered = UNSTEERED
    """Who stopped or resumed the run, and why."""
    set_back: Mapping[str, ClusterReport] = field(default_factory=dict)
    """Clusters that were not simply updated, where a policy applies or a person has decided."""
    admitted: Condition | None = None
    """Whether it may begin, if it had to ask."""

    @property
    def over(self) -> bool:
        """True when nothing can happen any more."""
        return self.phase in phases.ENDED

    @property
    def reason(self) -> str:
        """Reason of the condition Progressing; empty without one."""
        return self.progressing.reason if self.progressing else ""


def situation(
    status: UpdateRunStatus,
    *,
    desired: RunState,
    asked: Steered = UNSTEERED,
    set_back: Sequence[ClusterReport] = (),
) -> EventState:
    """Return the current situation of a run; later changes of `status` do not affect it."""
    stages = enumerate(phases.stages(status))
    return EventState(
        phase=phases.phase(status),
        initialized=conditions.find(status.conditions, ConditionType.INITIALIZED),
        progressing=conditions.find(status.conditions, ConditionType.PROGRESSING),
        succeeded=conditions.find(status.conditions, ConditionType.SUCCEEDED),
        admitted=conditions.find(status.conditions, ConditionType.ADMITTED),
        started=tuple(index for index, each in stages if each.clusters and each.start_time),
        desired=desired,
        asked=asked,
        set_back={each.name: each for each in set_back},
    )


def since(
    before: EventState, after: EventState, *, status: UpdateRunStatus, run: RunRef, now: datetime
) -> list[Event]:
    """Return the events between two situations, in the order in which they happen."""
    if before.over:
        return []
    found = (
        *_initialized(before, after, status),
        *_stopped(before, after),
        *_queued(before, after),
        *_stages_started(before, after, status),
        *_set_back(before, after),
        *_held_up(before, after, status, run),
        *_superseded(before, after),
        *_ended(after),
    )
    return [Event(type=kind, reason=reason, message=text, at=now) for kind, reason, text in found]


def approved(*, stage: str, side: Side, given: Given, now: datetime) -> Event:
    """Return the event for an accepted approval; `given` says by whom or with what tool."""
    said = f" with {given.tool}" if given.tool else ""
    said += f": {given.message}" if given.message else ""
    text = f"The approval {side} stage {stage} was given{said}"
    return Event(reason=EventReason.APPROVED, message=text, at=now)


def continued(*, by: str, comment: str, now: datetime) -> Event:
    """Return the event for a run that a person continues although clusters have failed."""
    who = signatures.clause(by, comment)
    text = f"The update run was continued{who}, with the failures that there are"
    return Event(reason=EventReason.CONTINUED, message=text, at=now)


def rolled_back(*, rollback: str, back: str, index: str, now: datetime) -> Event:
    """Return the event for a run that another one, `rollback`, takes back.

    `back` says how many clusters go back, and `index` to which snapshot.
    """
    text = ROLLED_BACK.fill(rollback=rollback, back=back, index=index)
    return Event(type=WARNING, reason=EventReason.ROLLED_BACK, message=text, at=now)


def adopted(status: UpdateRunStatus, *, now: datetime) -> Event:
    """Return the event for a run that Temporal had lost and that resumes from its status."""
    stages = [each for each in phases.stages(status) if each.clusters]
    done = sum(conditions.has(each.conditions, ConditionType.SUCCEEDED) for each in stages)
    clusters = sum(len(each.clusters) for each in stages)
    text = ADOPTED.fill(
        progress=f"{done} of {_count(len(stages), 'stage')}, "
        f"{sum(map(phases.done, stages))} of {_count(clusters, 'cluster')}"
    )
    return Event(type=WARNING, reason=EventReason.ADOPTED, message=text, at=now)


def status_refused(why: str, *, now: datetime) -> Event:
    """Return the event for a status that the API server rejects."""
    text = (
        "The status of this run is out of date because the API server rejects the update; "
        f"fleetgate retries every few seconds, and nothing is lost: {why}"
    )
    return Event(type=WARNING, reason=EventReason.STATUS_REFUSED, message=text, at=now)


def placement_awaited(why: str, *, within: timedelta, now: datetime) -> Event:
    """Return the event for a run whose placement has not been scheduled yet."""
    text = f"The run waits up to {durations.format_duration(within)} for its placement: {why}"
    return Event(reason=EventReason.PLACEMENT_AWAITED, message=text, at=now)


Found = Iterator[tuple[EventType, str, str]]
"""Type, reason and message of events."""


def _initialized(before: EventState, after: EventState, status: UpdateRunStatus) -> Found:
    if before.initialized or after.initialized is None or after.initialized.status != "True":
        return
    clusters = sum(len(stage.clusters) for stage in status.stages_status)
    text = PLANNED_ONLY if after.desired is RunState.INITIALIZE else PLANNED
    yield (
        NORMAL,
        EventReason.INITIALIZED,
        text.fill(
            clusters=_count(clusters, "cluster"),
            stages=_count(len(status.stages_status), "stage"),
            index=status.resource_snapshot_index_used,
        ),
    )


def _stopped(before: EventState, after: EventState) -> Found:
    if _came(RunReason.STOPPED, before, after):
        who = signatures.clause(after.asked.by, after.asked.comment)
        stopped = f"The update run has been stopped{who}"
        yield NORMAL, EventReason.STOPPED, f"{stopped}; set spec.state to Run to resume"
    if (before.desired, after.desired) == (RunState.STOP, RunState.RUN):
        who = signatures.clause(after.asked.by, after.asked.comment)
        resumed = f"was resumed{who}; it continues" if who else "continues"
        yield NORMAL, EventReason.RESUMED, f"The update run {resumed} where it was stopped"


def _queued(before: EventState, after: EventState) -> Found:
    if _came(RunReason.QUEUED, before, after) and after.progressing:
        yield NORMAL, EventReason.QUEUED, after.progressing.message
    if before.reason == RunReason.QUEUED and _is_admitted(after) and not _is_admitted(before):
        yield NORMAL, EventReason.ADMITTED, "The update run begins, as its turn has come"


def _is_admitted(state: EventState) -> bool:
    return state.admitted is not None and state.admitted.status == ConditionStatus.TRUE


def _superseded(before: EventState, after: EventState) -> Found:
    if _came(RunReason.SUPERSEDED, before, after) and after.progressing:
        yield WARNING, EventReason.SUPERSEDED, after.progressing.message


def _stages_started(before: EventState, after: EventState, status: UpdateRunStatus) -> Found:
    stages = phases.stages(status)
    for index in after.started:
        if index not in before.started:
            yield NORMAL, EventReason.STAGE_STARTED, _start(stages[index], _declared(status, index))


def _held_up(before: EventState, after: EventState, status: UpdateRunStatus, run: RunRef) -> Found:
    if _came(RunReason.STUCK, before, after) and after.progressing:
        yield WARNING, EventReason.STUCK, after.progressing.message
    if _came(RunReason.WAITING, before, after) and (gates := _closed_gates(status, run)):
        yield NORMAL, EventReason.WAITING, gates
    if _came(RunReason.PAUSED, before, after) and after.progressing:
        yield WARNING, EventReason.PAUSED, after.progressing.message


def _set_back(before: EventState, after: EventState) -> Found:
    alike: dict[tuple[str, ClusterOutcome], list[ClusterReport]] = defaultdict(list)
    for name, cluster in after.set_back.items():
        if _happened(before.set_back.get(name), cluster):
            alike[cluster.stage, cluster.outcome].append(cluster)
    for (stage, outcome), clusters in alike.items():
        kind, reason, what = _SET_BACK[outcome]
        if len(clusters) <= CLUSTERS_ONE_BY_ONE:
            for each in clusters:
                detail = _detail(each)
                yield kind, reason, f"Cluster {each.name} of stage {stage} {what}{detail}"
        else:
            names = clusters_named([each.name for each in clusters])
            were = what.replace("was ", "were ").replace("has ", "have ")
            number = _count(len(clusters), "cluster")
            yield kind, reason, f"{number} of stage {stage} {were}: {names}"


_SET_BACK: Final[Mapping[ClusterOutcome, tuple[EventType, EventReason, str]]] = {
    ClusterOutcome.RETRYING: (NORMAL, EventReason.CLUSTER_RETRIED, "is tried again"),
    ClusterOutcome.FAILED: (WARNING, EventReason.CLUSTER_FAILED, "has failed"),
    ClusterOutcome.SKIPPED: (NORMAL, EventReason.CLUSTER_SKIPPED, "was skipped"),
    ClusterOutcome.RECOVERED: (NORMAL, EventReason.CLUSTER_RECOVERED, "was updated after all"),
}
"""Type, reason and verb of the event for each outcome; others are reported in other ways."""


def _happened(before: ClusterReport | None, now: ClusterReport) -> bool:
    """Return whether something new has happened to a cluster, of which there is an event."""
    if now.outcome not in _SET_BACK:
        return False
    known = (before.outcome, before.attempt) if before else None
    return known != (now.outcome, now.attempt)


def _detail(cluster: ClusterReport) -> str:
    """Return what to add about one cluster."""
    match cluster.outcome:
        case ClusterOutcome.RETRYING:
            number = f" (attempt {cluster.attempt})"
            return f"{signatures.clause(cluster.by, cluster.comment)}{number}"
        case ClusterOutcome.SKIPPED:
            return signatures.clause(cluster.by, cluster.comment)
        case ClusterOutcome.FAILED if cluster.message:
            return f": {cluster.message}"
    return ""


def _ended(after: EventState) -> Found:
    if after.succeeded and after.succeeded.status == "True":
        yield NORMAL, EventReason.SUCCEEDED, after.succeeded.message
    elif after.succeeded:
        yield WARNING, EventReason.FAILED, after.succeeded.message
    elif after.over and after.initialized:
        yield WARNING, EventReason.FAILED, after.initialized.message


def _came(reason: RunReason, before: EventState, after: EventState) -> bool:
    """Return whether the run has newly entered a state, or is in it for another cause."""
    if after.reason != reason or after.progressing is None or after.over:
        return False
    if before.reason != reason or before.progressing is None:
        return True
    # The message of Stuck names clusters and may change with each of them: no new event for that.
    moved = before.progressing.message != after.progressing.message
    return moved and reason == RunReason.WAITING


def _declared(status: UpdateRunStatus, index: int) -> Stage | None:
    """Return a stage as the strategy declares it; None for the deletion stage."""
    strategy = status.staged_update_strategy_snapshot
    stages = strategy.stages if strategy else []
    return stages[index] if index < len(stages) else None


def _start(stage: StageStatus, declared: Stage | None) -> str:
    number = len(stage.clusters)
    clusters = _count(number, "cluster")
    if declared is None:
        clusters += " to be removed"
    else:
        at_once = concurrency.limit(declared.max_concurrency, clusters=number)
        clusters += f", {min(at_once, number)} at a time"
    return STAGE_STARTED.fill(stage=stage.stage_name, clusters=clusters)


def _closed_gates(status: UpdateRunStatus, run: RunRef) -> str:
    """Return what a run waits for, and what to do about it; empty if nothing."""
    for index, stage in enumerate(status.stages_status):
        progressing = conditions.find(stage.conditions, ConditionType.PROGRESSING)
        if progressing is None or progressing.reason != StageReason.WAITING:
            continue
        side: Side = "after" if stage.start_time else "before"
        where = Where(run, stage.stage_name, side)
        texts = [
            each.kind.awaited(each.entry, each.task, where)
            for each in gates.of_stage(status, index)
            if each.side == side and not gates.is_passed(each.entry)
        ]
        return f"Waiting {side} stage {stage.stage_name} for {' and for '.join(texts)}" * bool(
            texts
        )
    return ""


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
