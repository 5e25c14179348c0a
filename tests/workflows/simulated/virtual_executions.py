"""One execution of a workflow, with what Temporal and a worker do for it.

A workflow task starts when there is a new job, and takes no time unless a local activity is
running: then it stays open, new jobs wait, and the worker sends a heartbeat every 8 s.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure

from tests.workflows.simulated import sdk_instance
from tests.workflows.simulated.histories import History
from tests.workflows.simulated.pending_activities import PendingActivities, Setting
from tests.workflows.simulated.recordings import Recording
from tests.workflows.simulated.sdk_instance import (
    ActivityCall,
    ActivityCancel,
    Circumstances,
    Close,
    Command,
    ExternalSignal,
    Instance,
    Job,
    Patch,
    Start,
    TimerCancel,
    TimerStart,
    UpdateAnswer,
    Upsert,
)

LATENCY: Final = timedelta(milliseconds=5)
"""Time from a new job to its workflow task; jobs that come meanwhile are in the same task."""
TASK_TIMEOUT: Final = timedelta(seconds=10)
TASK_HEARTBEAT: Final = timedelta(seconds=8)
TASK: Final = ("WORKFLOW_TASK_SCHEDULED", "WORKFLOW_TASK_STARTED", "WORKFLOW_TASK_COMPLETED")
ENDS: Final = {
    "complete": "WORKFLOW_EXECUTION_COMPLETED",
    "fail": "WORKFLOW_EXECUTION_FAILED",
    "cancel": "WORKFLOW_EXECUTION_CANCELED",
    "continue_as_new": "WORKFLOW_EXECUTION_CONTINUED_AS_NEW",
}
UPSERTED: Final = "UPSERT_WORKFLOW_SEARCH_ATTRIBUTES"


class Execution:
    """One execution of a workflow, until it ends or continues as new."""

    def __init__(
        self,
        start: Start,
        setting: Setting,
        *,
        closed: Callable[[Close], None],
        answered: Callable[[UpdateAnswer, bool], None],
    ) -> None:
        """`closed` is called at the end, `answered` for each answer to an update.

        The second argument of `answered` says whether the update was accepted.
        """
        self.start = start
        self.history = History(setting.limits)
        self.is_open = True
        self.newer_build = False
        """Whether Temporal reports that another build of the worker has become current."""
        self.search_attributes: dict[str, Payload] = {}
        self._setting = setting
        self._closed, self._answered = closed, answered
        self._instance = self._new_instance()
        self._recording = Recording(self._new_instance)
        self._waiting: list[Job] = []
        """Jobs for the next workflow task."""
        self._outbox: list[Command] = []
        """Commands of the open workflow task, sent to Temporal when it is completed."""
        self._task: int | None = None
        """Number of steps before the open workflow task started; None if no task is open."""
        self._task_jobs: list[Job] = []
        """Jobs that started the open workflow task, to be delivered again if it is lost."""
        self._task_locals: list[int] = []
        """Local activities started in the open workflow task."""
        self._task_planned = False
        self._tasks = 0
        self._timers: dict[int, object] = {}
        self._activities = PendingActivities(
            setting, ended=self._ended, worker_away=self._worker_away
        )
        self._worker_back: datetime = setting.timeline.now
        self.history.add("WORKFLOW_EXECUTION_STARTED", payload=_size(start.arguments))
        self._plan_task()

    # -- messages --------------------------------------------------------------------------

    def signal(self, name: str, arguments: Sequence[Payload]) -> None:
        """Receive a signal."""
        self.history.add("WORKFLOW_EXECUTION_SIGNALED", payload=_size(arguments))
        self._tell(sdk_instance.signal(name, arguments, event=self.history.events))

    def update(self, name: str, arguments: Sequence[Payload], *, id_: str) -> None:
        """Receive an update, which is in history once it is accepted."""
        self._tell(sdk_instance.update(name, arguments, id_=id_))

    def cancel(self, reason: str) -> None:
        """Receive a request to cancel the workflow."""
        self.history.add("WORKFLOW_EXECUTION_CANCEL_REQUESTED")
        self._tell(sdk_instance.cancel(reason))

    def query(self, name: str, arguments: Sequence[Payload]) -> Payload:
        """Query the workflow in its present state."""
        commands, _ = self._instance.activate(
            [sdk_instance.query(name, arguments)], self._circumstances()
        )
        (answer,) = commands
        assert isinstance(answer, sdk_instance.QueryAnswer)
        assert answer.failure is None, answer.failure
        return answer.result

    def _tell(self, job: Job) -> None:
        if self.is_open:
            self._waiting.append(job)
            self._plan_task()

    # -- workflow tasks --------------------------------------------------------------------

    def _plan_task(self) -> None:
        if self.is_open and self._task is None and not self._task_planned:
            self._task_planned = True
            self.history.add(TASK[0])
            self._setting.timeline.after(LATENCY, self._begin_task)

    def _begin_task(self) -> None:
        if not self.is_open:
            return
        if away := self._worker_away():
            self._setting.timeline.after(away, self._begin_task)
            return
        self._task_planned = False
        self.history.add(TASK[1])
        self._work_on_task()

    def _work_on_task(self) -> None:
        """Deliver the waiting jobs in an open task."""
        self._tasks += 1
        number = self._tasks
        self._task, self._task_locals = len(self._recording), []
        self._task_jobs, self._waiting = self._waiting, []
        self._setting.timeline.after(TASK_HEARTBEAT, lambda: self._heartbeat(number))
        if self._task_jobs or not self._recording:
            self._step(self._task_jobs)
        self._complete_task()

    def _heartbeat(self, number: int) -> None:
        """Report that the worker is still working on a task, which also delivers new jobs."""
        if self._task is not None and number == self._tasks and not self._worker_away():
            self.history.add(TASK[2])
            self._send_commands()
            self.history.add(*TASK[:2])
            self._work_on_task()

    def _complete_task(self) -> None:
        """Complete the open task, unless a local activity is running in it."""
        closes = any(isinstance(each, Close) for each in self._outbox)
        if self._task is None or (self._activities.has_local and not closes):
            return
        if closes and self._waiting:
            # The workflow must not close with jobs that it has not handled.
            self._redo_task("WORKFLOW_TASK_FAILED")
            return
        begun, self._task = self._task, None
        if begun == len(self._recording) and self._task_jobs:
            # Everything in it was refused, of which Temporal records nothing.
            self.history.take_back(*TASK[:2])
        else:
            self.history.add(TASK[2])
        self._send_commands()
        if self._waiting:
            self._plan_task()

    def _step(self, jobs: Sequence[Job]) -> None:
        """Continue the workflow, and deliver the jobs that result at once."""
        told = self._circumstances()
        commands, compared = self._instance.activate(jobs, told)
        refused = self._recording.add(jobs, told, commands, compared)
        at_once = [job for each in commands if (job := self._obey(each))]
        for each in commands:
            if isinstance(each, UpdateAnswer) and each.id in refused:
                self._outbox.remove(each)
                self._answered(each, False)
        if at_once and not any(isinstance(each, Close) for each in commands):
            self._step(at_once)

    def _circumstances(self) -> Circumstances:
        return Circumstances(
            now=self._setting.timeline.now,
            events=self.history.events,
            size=self.history.size,
            suggest=self.history.is_long,
            newer_build=self.newer_build,
        )

    # -- commands --------------------------------------------------------------------------

    def _obey(self, command: Command) -> Job | None:
        """Do what the worker does itself; return the job that results at once, if any."""
        if isinstance(command, ActivityCancel):
            return self._cancel_activity(command.seq)
        if isinstance(command, ActivityCall) and command.local:
            self._task_locals.append(command.seq)
            self._activities.schedule(command)
        else:
            self._outbox.append(command)
        return None

    def _send_commands(self) -> None:
        outbox, self._outbox = self._outbox, []
        for each in outbox:
            self._send(each)

    def _send(self, command: Command) -> None:
        match command:
            case ActivityCall():
                payload = _size(command.arguments) + command.summary.ByteSize()
                self.history.add("ACTIVITY_TASK_SCHEDULED", payload=payload)
                self.history.activities[command.type] += 1
                self._activities.schedule(command)
            case TimerStart():
                self._start_timer(command)
            case TimerCancel():
                if self._timers.pop(command.seq, None):
                    self.history.add("TIMER_CANCELED")
            case ExternalSignal():
                self._signal_other(command)
            case Patch():
                # The SDK also records the patch in a search attribute.
                self.history.add("MARKER_RECORDED", UPSERTED)
            case Upsert():
                self.search_attributes.update(command.values)
                self.history.add(UPSERTED, payload=_size(command.values.values()))
            case UpdateAnswer():
                how = "ACCEPTED" if command.is_acceptance else "COMPLETED"
                self.history.add(f"WORKFLOW_EXECUTION_UPDATE_{how}")
                self._answered(command, True)
            case Close():
                self._close(command)

    def _start_timer(self, timer: TimerStart) -> None:
        self.history.add("TIMER_STARTED")
        self._timers[timer.seq] = timer
        self._setting.timeline.after(timer.after, lambda: self._fire(timer.seq))

    def _fire(self, seq: int) -> None:
        if self.is_open and self._timers.pop(seq, None):
            self.history.add("TIMER_FIRED")
            self._tell(sdk_instance.timer_fired(seq))

    def _signal_other(self, command: ExternalSignal) -> None:
        self.history.add("SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED")
        self._setting.timeline.after(LATENCY, lambda: self._signal_now(command))

    def _signal_now(self, command: ExternalSignal) -> None:
        if not self.is_open:
            return
        arrived = self._setting.signal(command.workflow_id, command.name, command.arguments)
        failure = None if arrived else Failure(message="Unable to signal external workflow")
        if failure:
            failure.application_failure_info.type = "ExternalWorkflowExecutionNotFound"
        self.history.add(
            "EXTERNAL_WORKFLOW_EXECUTION_SIGNALED"
            if arrived
            else "SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_FAILED"
        )
        self._tell(sdk_instance.external_signalled(command.seq, failure))

    def _close(self, close: Close) -> None:
        self.history.add(ENDS[close.how])
        self.is_open = False
        self._activities.give_up()
        self._closed(close)

    # -- activities ------------------------------------------------------------------------

    def _ended(self, call: ActivityCall, result: object, failure: Failure | None) -> None:
        if failure:
            job, size = sdk_instance.activity_failed(call.seq, failure), failure.ByteSize()
        else:
            payload = self._setting.converter.payload_converter.to_payloads([result])[0]
            job, size = sdk_instance.activity_completed(call.seq, payload), payload.ByteSize()
        if not call.local:
            end = "ACTIVITY_TASK_FAILED" if failure else "ACTIVITY_TASK_COMPLETED"
            self.history.add("ACTIVITY_TASK_STARTED", end, payload=size)
            self._tell(job)
            return
        self.history.add("MARKER_RECORDED", payload=size)
        self._step([job])
        self._complete_task()

    def _cancel_activity(self, seq: int) -> Job | None:
        call = self._activities.cancel(seq)
        if call is None:
            # Not sent yet, or ended but not delivered yet.
            self._outbox = [each for each in self._outbox if not _calls(each, seq)]
            self._waiting = [each for each in self._waiting if each.resolve_activity.seq != seq]
            return sdk_instance.activity_cancelled(seq)
        if not call.local:
            self.history.add("ACTIVITY_TASK_CANCEL_REQUESTED")
        if call.heartbeat:
            # Its code learns of the cancellation at its next heartbeat; its end is an event too.
            self._setting.timeline.after(call.heartbeat * 0.8, lambda: self._cancelled(call))
        return None if call.awaits_cancel else sdk_instance.activity_cancelled(seq)

    def _cancelled(self, call: ActivityCall) -> None:
        if self.is_open:
            self.history.add("ACTIVITY_TASK_STARTED", "ACTIVITY_TASK_CANCELED")
            if call.awaits_cancel:
                self._waiting.append(sdk_instance.activity_cancelled(call.seq))
            self._plan_task()

    # -- lost workers and replay -----------------------------------------------------------

    def vanish(self) -> None:
        """End without a trace: Temporal has lost its database."""
        self.is_open = False
        self._task = None
        self._tasks += 1
        self._activities.give_up()

    def lose_worker(self, *, away: timedelta) -> None:
        """Kill the worker; another one takes over after some time, knowing only the history."""
        timeline = self._setting.timeline
        self._worker_back = timeline.now + away
        self._activities.lose_worker()
        if self._task is None:
            self._forget()
        else:
            self._tasks += 1
            timeline.after(TASK_TIMEOUT, lambda: self._redo_task("WORKFLOW_TASK_TIMED_OUT"))

    def _worker_away(self) -> timedelta:
        return max(self._worker_back - self._setting.timeline.now, timedelta(0))

    def _redo_task(self, event: str) -> None:
        """Start the open task again, together with the jobs that have arrived since."""
        begun = self._task
        assert begun is not None, "only an open task is lost"
        self.history.add(event)
        self._recording.take_back(begun)
        self._waiting = [*self._task_jobs, *self._waiting]
        self._task, self._outbox = None, []
        self._activities.redo_local(forgotten=self._task_locals)
        self._forget()
        self._plan_task()

    def _forget(self) -> None:
        self._instance.evict()
        self._instance = self._recording.replayed()

    def check_replay(self) -> None:
        """Raise NondeterminismError if the workflow does something different when replayed."""
        self._recording.replayed().evict()

    def evict(self) -> None:
        """Evict the workflow from memory."""
        self._instance.evict()

    def _new_instance(self) -> Instance:
        setting = self._setting
        return Instance(self.start, plugin=setting.plugin, sandboxed=setting.sandboxed)


def _calls(command: Command, seq: int) -> bool:
    return isinstance(command, ActivityCall) and command.seq == seq


def _size(payloads: Iterable[Payload]) -> int:
    return sum(each.ByteSize() for each in payloads)
