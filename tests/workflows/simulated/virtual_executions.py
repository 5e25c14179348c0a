"""One execution of a workflow: what Temporal and a worker do for it between them.

A workflow task begins when there is news, and takes no time unless a local activity is under way:
then it stays open, news wait, and a worker reports every 8 s that it lives.
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
"""From news to the workflow task about it; news that come meanwhile are in the same task."""
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
    """A workflow between two continuations as new."""

    def __init__(
        self,
        start: Start,
        setting: Setting,
        *,
        closed: Callable[[Close], None],
        answered: Callable[[UpdateAnswer, bool], None],
    ) -> None:
        """`closed` is told of the end, `answered` of answers to updates, if they were accepted."""
        self.start = start
        self.history = History(setting.limits)
        self.is_open = True
        self.newer_build = False
        """Whether Temporal says that another build of the worker has become current."""
        self.search_attributes: dict[str, Payload] = {}
        self._setting = setting
        self._closed, self._answered = closed, answered
        self._instance = self._new_instance()
        self._recording = Recording(self._new_instance)
        self._waiting: list[Job] = []
        """News for the next workflow task."""
        self._outbox: list[Command] = []
        """Commands of the open workflow task: Temporal gets them when it is completed."""
        self._task: int | None = None
        """How many steps had been done when the open workflow task began."""
        self._task_jobs: list[Job] = []
        """News that began the open workflow task, to be repeated if it is lost."""
        self._task_locals: list[int] = []
        """Local activities that were begun in it."""
        self._task_planned = False
        self._tasks = 0
        self._timers: dict[int, object] = {}
        self._activities = PendingActivities(
            setting, ended=self._ended, worker_away=self._worker_away
        )
        self._worker_back: datetime = setting.timeline.now
        self.history.add("WORKFLOW_EXECUTION_STARTED", payload=_size(start.arguments))
        self._plan_task()

    # -- news ------------------------------------------------------------------------------

    def signal(self, name: str, arguments: Sequence[Payload]) -> None:
        """Take a signal."""
        self.history.add("WORKFLOW_EXECUTION_SIGNALED", payload=_size(arguments))
        self._tell(sdk_instance.signal(name, arguments, event=self.history.events))

    def update(self, name: str, arguments: Sequence[Payload], *, id_: str) -> None:
        """Take an update; history knows of it once it is accepted."""
        self._tell(sdk_instance.update(name, arguments, id_=id_))

    def cancel(self, reason: str) -> None:
        """Take the wish that the workflow ends."""
        self.history.add("WORKFLOW_EXECUTION_CANCEL_REQUESTED")
        self._tell(sdk_instance.cancel(reason))

    def query(self, name: str, arguments: Sequence[Payload]) -> Payload:
        """Ask the workflow as it is now."""
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
        """Deliver what has gathered, in an open task."""
        self._tasks += 1
        number = self._tasks
        self._task, self._task_locals = len(self._recording), []
        self._task_jobs, self._waiting = self._waiting, []
        self._setting.timeline.after(TASK_HEARTBEAT, lambda: self._heartbeat(number))
        if self._task_jobs or not self._recording:
            self._step(self._task_jobs)
        self._complete_task()

    def _heartbeat(self, number: int) -> None:
        """Report that the worker still works on a task, which also brings it the news."""
        if self._task is not None and number == self._tasks and not self._worker_away():
            self.history.add(TASK[2])
            self._send_commands()
            self.history.add(*TASK[:2])
            self._work_on_task()

    def _complete_task(self) -> None:
        """Complete the open task, unless a local activity is under way in it."""
        closes = any(isinstance(each, Close) for each in self._outbox)
        if self._task is None or (self._activities.has_local and not closes):
            return
        if closes and self._waiting:
            # It must not end with news that nobody has looked at.
            self._redo_task("WORKFLOW_TASK_FAILED")
            return
        begun, self._task = self._task, None
        if begun == len(self._recording) and self._task_jobs:
            # All that it held was refused: Temporal leaves no trace of that.
            self.history.take_back(*TASK[:2])
        else:
            self.history.add(TASK[2])
        self._send_commands()
        if self._waiting:
            self._plan_task()

    def _step(self, jobs: Sequence[Job]) -> None:
        """Go on with the workflow, and with what can be told to it at once."""
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
        """Do what a worker does by itself; returns what the workflow is told of that at once."""
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
            case Patch():
                # The SDK names it in a search attribute too.
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
            # Not even sent, or its end is not told yet.
            self._outbox = [each for each in self._outbox if not _calls(each, seq)]
            self._waiting = [each for each in self._waiting if each.resolve_activity.seq != seq]
            return sdk_instance.activity_cancelled(seq)
        if not call.local:
            self.history.add("ACTIVITY_TASK_CANCEL_REQUESTED")
        if call.heartbeat:
            # Its code learns of it by its next heartbeat, and its end is an event too.
            self._setting.timeline.after(call.heartbeat * 0.8, lambda: self._cancelled(call))
        return None if call.awaits_cancel else sdk_instance.activity_cancelled(seq)

    def _cancelled(self, call: ActivityCall) -> None:
        if self.is_open:
            self.history.add("ACTIVITY_TASK_STARTED", "ACTIVITY_TASK_CANCELED")
            if call.awaits_cancel:
                self._waiting.append(sdk_instance.activity_cancelled(call.seq))
            self._plan_task()

    # -- lost workers and replay -----------------------------------------------------------

    def lose_worker(self, *, away: timedelta) -> None:
        """Kill the worker; another one is there after some time, and knows only what is history."""
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
        """Begin the open task anew, together with what has come since."""
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
        """Raise NondeterminismError if the workflow does something else when it is repeated."""
        self._recording.replayed().evict()

    def evict(self) -> None:
        """Drop the workflow from memory."""
        self._instance.evict()

    def _new_instance(self) -> Instance:
        setting = self._setting
        return Instance(self.start, plugin=setting.plugin, sandboxed=setting.sandboxed)


def _calls(command: Command, seq: int) -> bool:
    return isinstance(command, ActivityCall) and command.seq == seq


def _size(payloads: Iterable[Payload]) -> int:
    return sum(each.ByteSize() for each in payloads)
