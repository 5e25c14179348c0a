"""Gates before and after a stage: what each kind of gate is, and which ones a run waits at.

A kind of gate is defined once, by a `GateKind`: how a task that declares it is validated and
recorded, when the gate is open and when it is passed, and what people read about it. What it does
while it is open is the matter of its executor in `workflows.gates`. Nothing else knows the kinds.

contract: update-runs 4, 7.5 a, b and g, 8.2, 8.5 and 8.7
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar, Final, Literal

from api.reasons import ConditionType, TaskMessage, TaskReason
from api.runs import StageStatus, StageTaskStatus, UpdateRunStatus
from api.strategies import Stage, StageTask, StageTaskType
from api.texts import Text
from planning import conditions, durations
from planning.identity import RunRef
from planning.runs import phases
from planning.runs.facts import Fact

Side = Literal["before", "after"]


class GateSide(StrEnum):
    """Side of a gate: before or after its stage."""

    BEFORE = "before"
    AFTER = "after"


# -- gates that are open -------------------------------------------------------------------


class OpenGate(Fact):
    """A gate that a run waits at."""

    stage: str
    side: GateSide
    since: datetime | None = None
    """When it opened; None if that is not known."""

    @property
    def what(self) -> str:
        """What the run waits for, as a noun."""
        raise NotImplementedError

    @property
    def until(self) -> datetime | None:
        """When the gate is passed by itself; None if a person has to act."""
        return None

    def left(self, now: datetime) -> timedelta:
        """Return the time until it is passed by itself; never negative."""
        return max(self.until - now, timedelta(0)) if self.until else timedelta(0)

    def __str__(self) -> str:
        return f"{self.what} {self.side} stage {self.stage}"


class PendingApproval(OpenGate):
    """An approval that a run waits for."""

    request: str
    """Name of the (Cluster)ApprovalRequest."""

    @property
    def what(self) -> str:
        """An approval."""
        return "approval"


class RunningWait(OpenGate):
    """A timed wait that is not over yet."""

    length: timedelta

    @property
    def what(self) -> str:
        """A wait with its length."""
        return f"wait of {durations.short(self.length)}"

    @property
    def until(self) -> datetime | None:
        """When the wait is over."""
        return self.since + self.length if self.since else None


# -- kinds of gates ------------------------------------------------------------------------


class GateKind(ABC):
    """One kind of gate."""

    type: ClassVar[str]
    """As tasks of a strategy declare it."""
    sides: ClassVar[frozenset[GateSide]] = frozenset(GateSide)
    """Sides of a stage on which it may stand."""
    opened: ClassVar[tuple[str, str, str] | None] = None
    """Type, reason and message of the condition that it is open; None if the status does not say
    so."""
    passed: ClassVar[tuple[str, str, str]]
    """Type, reason and message of the condition that it is passed."""
    by_person: ClassVar[bool] = False
    """True if a person has to act."""

    def problem(self, task: StageTask, side: GateSide) -> str | None:
        """Return what is wrong with a task, as the end of a sentence about it; None if nothing."""
        del task, side
        return None

    def entry(self, *, run: str, side: Side, stage: str) -> StageTaskStatus:
        """Return the entry in the run's status before the gate has opened."""
        del run, side, stage
        return StageTaskStatus(type=self.type)

    def recorded(self, task: StageTask) -> StageTask:
        """Return the task as a run's status records it."""
        return task

    def is_passed(self, entry: StageTaskStatus) -> bool:
        """Return whether the gate has been passed."""
        return conditions.has(entry.conditions, self.passed[0])

    def is_opened(self, entry: StageTaskStatus) -> bool:
        """Return whether the status says that the gate was opened."""
        return self.opened is not None and conditions.has(entry.conditions, self.opened[0])

    def least_time(self, task: StageTask) -> timedelta:
        """Return how long the gate holds up a run at least."""
        del task
        return timedelta(0)

    @abstractmethod
    def declared(self, task: StageTask) -> str:
        """Return the gate as a noun: `approval`, `wait of 10m`."""

    def label(self, task: StageTask, side: GateSide) -> str:
        """Return the gate in the fewest words, for a table: `approval after`, `wait 10m`."""
        return f"{self.declared(task)} {side}"

    @abstractmethod
    def open(
        self, entry: StageTaskStatus, task: StageTask, stage: StageStatus, side: GateSide
    ) -> OpenGate | None:
        """Return the gate if the run waits at it, judged by the run's status."""

    @abstractmethod
    def awaited(self, entry: StageTaskStatus, task: StageTask, where: "Where") -> str:
        """Return what has to happen, as an event says it after `Waiting after stage x for`."""


@dataclass(frozen=True, slots=True)
class Where:
    """Place of a gate."""

    run: RunRef
    stage: str
    side: Side


class _Approval(GateKind):
    """A person has to approve, by an approval request on the hub or through Temporal."""

    type = StageTaskType.APPROVAL
    by_person = True
    opened = (ConditionType.APPROVAL_REQUEST_CREATED, TaskReason.CREATED, TaskMessage.CREATED)
    passed = (ConditionType.APPROVAL_REQUEST_APPROVED, TaskReason.APPROVED, TaskMessage.APPROVED)

    def problem(self, task: StageTask, side: GateSide) -> str | None:
        if side is GateSide.BEFORE and task.wait_time is not None:
            return "cannot have wait duration set"
        return None

    def entry(self, *, run: str, side: Side, stage: str) -> StageTaskStatus:
        name = approval_name(run, side, stage)
        return StageTaskStatus(type=self.type, approval_request_name=name)

    def recorded(self, task: StageTask) -> StageTask:
        return task.model_copy(update={"wait_time": None})

    def declared(self, task: StageTask) -> str:
        del task
        return "approval"

    def open(
        self, entry: StageTaskStatus, task: StageTask, stage: StageStatus, side: GateSide
    ) -> OpenGate | None:
        del task
        asked = conditions.find(entry.conditions, self.opened[0])
        if asked is None or asked.status != "True" or self.is_passed(entry):
            return None
        return PendingApproval(
            stage=stage.stage_name,
            side=side,
            since=asked.last_transition_time,
            request=entry.approval_request_name,
        )

    def awaited(self, entry: StageTaskStatus, task: StageTask, where: Where) -> str:
        del task
        run = where.run
        command = approve_command(
            run=run.name, stage=where.stage, side=where.side, namespace=run.namespace
        )
        return f"{run.scope.approval} {entry.approval_request_name} to be approved ({command})"


class _TimedWait(GateKind):
    """Some time has to pass after the stage's last cluster was updated."""

    type = StageTaskType.TIMED_WAIT
    sides = frozenset({GateSide.AFTER})
    passed = (ConditionType.WAIT_TIME_ELAPSED, TaskReason.WAIT_ELAPSED, TaskMessage.WAIT_ELAPSED)

    def problem(self, task: StageTask, side: GateSide) -> str | None:
        del side
        if task.wait_time is None:
            return "has wait duration set to nil"
        try:
            short = durations.parse(task.wait_time) <= timedelta(0)
        except ValueError as error:
            return f"has an invalid wait duration: {error}"
        return "has wait duration <= 0" if short else None

    def recorded(self, task: StageTask) -> StageTask:
        return task.model_copy(update={"wait_time": _go_form(task.wait_time)})

    def least_time(self, task: StageTask) -> timedelta:
        return durations.parse(task.wait_time) if task.wait_time else timedelta(0)

    def declared(self, task: StageTask) -> str:
        return f"wait of {task.wait_time}"

    def label(self, task: StageTask, side: GateSide) -> str:
        del side
        return f"wait {task.wait_time}"

    def open(
        self, entry: StageTaskStatus, task: StageTask, stage: StageStatus, side: GateSide
    ) -> OpenGate | None:
        since = all_updated_at(stage)
        if since is None or self.is_passed(entry):
            return None
        return RunningWait(
            stage=stage.stage_name, side=side, since=since, length=self.least_time(task)
        )

    def awaited(self, entry: StageTaskStatus, task: StageTask, where: Where) -> str:
        del entry, where
        return f"{task.wait_time} to pass"


WAIT_TIMER: Final = Text("{stage}: wait {length} after the stage")
"""Summary of the timer of a timed wait, as Temporal shows it."""
_UNITS_BELOW_A_SECOND: Final = ("ns", "µs", "ms")

KINDS: Final[dict[str, GateKind]] = {each.type: each for each in (_Approval(), _TimedWait())}
"""Every kind of gate, by the type of the tasks that declare it."""


def _go_form(wait_time: str | None) -> str | None:
    if wait_time is None:
        return None
    try:
        written = durations.format_duration(durations.parse(wait_time))
    except ValueError:
        return wait_time  # for `problem` to reject
    # Go prints less than a second as 500ms, which the API rejects in a status: KubeFleet cannot
    # initialize such a run.
    return wait_time if written.endswith(_UNITS_BELOW_A_SECOND) else written


# -- the tasks that declare gates ----------------------------------------------------------


def before_problem(tasks: Sequence[StageTask]) -> str | None:
    """Return what is wrong with the tasks before a stage, or None."""
    if len(tasks) > 1:
        return "beforeStageTasks can have at most one task"
    for position, task in enumerate(tasks):
        if GateSide.BEFORE not in KINDS[task.type].sides:
            allowed = ", ".join(each for each in KINDS if GateSide.BEFORE in KINDS[each].sides)
            return (
                f"task {position} of type {task.type} is not allowed in beforeStageTasks, "
                f"allowed type: {allowed}"
            )
    return _problem(tasks, GateSide.BEFORE)


def after_problem(tasks: Sequence[StageTask]) -> str | None:
    """Return what is wrong with the tasks after a stage, or None."""
    types = [task.type for task in tasks]
    if len(types) == 2 and types[0] == types[1]:
        return f"afterStageTasks cannot have two tasks of the same type: {types[0]}"
    return _problem(tasks, GateSide.AFTER)


def _problem(tasks: Sequence[StageTask], side: GateSide) -> str | None:
    for position, task in enumerate(tasks):
        if problem := KINDS[task.type].problem(task, side):
            return f"task {position} of type {task.type} {problem}"
    return None


def approval_name(run: str, side: Side, stage: str) -> str:
    """Return the name of the approval request on one side of a stage."""
    return f"{run}-{side}-{stage}"


def approve_command(*, run: str, stage: str, side: str, namespace: str) -> str:
    """Return the command that approves a gate."""
    parts = ["fleetgate approve", run, stage]
    parts += [f"--{side}"] if side else []
    parts += [f"-n {namespace}"] if namespace else []
    return " ".join(parts)


def entries(
    tasks: Sequence[StageTask], *, run: str, side: Side, stage: str
) -> list[StageTaskStatus]:
    """Return status entries for tasks that have not started."""
    return [KINDS[task.type].entry(run=run, side=side, stage=stage) for task in tasks]


def normalized(stage: Stage) -> Stage:
    """Return the stage as a run's status records it."""
    sides = {
        "before_stage_tasks": _recorded(stage.before_stage_tasks),
        "after_stage_tasks": _recorded(stage.after_stage_tasks),
    }
    return stage.model_copy(update={side: tasks for side, tasks in sides.items() if tasks})


def _recorded(tasks: Sequence[StageTask]) -> list[StageTask]:
    return [KINDS[task.type].recorded(task) for task in tasks]


# -- the gates of a run --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate of a run: what was declared, and where the run is with it."""

    kind: GateKind
    task: StageTask
    entry: StageTaskStatus
    side: GateSide


def is_passed(entry: StageTaskStatus) -> bool:
    """Return whether the gate has been passed."""
    return KINDS[entry.type].is_passed(entry)


def of_stage(status: UpdateRunStatus, index: int) -> Iterator[Gate]:
    """Yield the gates of a stage: those before it, then those after it."""
    strategy = status.staged_update_strategy_snapshot
    if strategy is None or index >= len(strategy.stages):
        return
    declared, stage = strategy.stages[index], status.stages_status[index]
    for side, tasks, found in (
        (GateSide.BEFORE, declared.before_stage_tasks, stage.before_stage_task_status),
        (GateSide.AFTER, declared.after_stage_tasks, stage.after_stage_task_status),
    ):
        for task, entry in zip(tasks, found, strict=False):
            yield Gate(KINDS[entry.type], task, entry, side)


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates of a run."""

    open: tuple[OpenGate, ...] = ()
    """Those that the run waits at; first those that need a person."""
    approved: int = 0
    """Number of approvals that were given and accepted so far."""

    @property
    def approvals(self) -> tuple[PendingApproval, ...]:
        """The approvals that the run waits for."""
        return tuple(each for each in self.open if isinstance(each, PendingApproval))

    @property
    def waits(self) -> tuple[OpenGate, ...]:
        """The gates that are passed by themselves."""
        return tuple(each for each in self.open if each.until)


def closed(status: UpdateRunStatus) -> Gates:
    """Return the gates that a run waits at; none once it has ended."""
    if phases.has_ended(status):
        return Gates()
    found = [
        (gate, stage)
        for index, stage in enumerate(status.stages_status)
        for gate in of_stage(status, index)
    ]
    opened = (gate.kind.open(gate.entry, gate.task, stage, gate.side) for gate, stage in found)
    waiting = sorted(filter(None, opened), key=lambda each: each.until is not None)
    return Gates(
        open=tuple(waiting),
        approved=sum(gate.kind.by_person and is_passed(gate.entry) for gate, _ in found),
    )


def all_updated_at(stage: StageStatus) -> datetime | None:
    """Return when the last cluster of a stage was dealt with; None while one is not."""
    # Not the stage's Progressing condition: that one changes when the run is stopped, while a
    # timed wait continues (contract decision 5).
    if not (stage.clusters and all(map(phases.is_settled, stage.clusters))):
        return None
    ends = (conditions.find(each.conditions, ConditionType.SUCCEEDED) for each in stage.clusters)
    return max(each.last_transition_time for each in ends if each)
