"""The activities that an execution waits for."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from temporalio.api.failure.v1 import Failure
from temporalio.converter import DataConverter
from temporalio.plugin import SimplePlugin

from tests.workflows.simulated.activity_attempts import Activity, ActivityCode
from tests.workflows.simulated.histories import LimitExceededError, Limits
from tests.workflows.simulated.sdk_instance import ActivityCall
from tests.workflows.simulated.timeline import Timeline

Ended = Callable[[ActivityCall, object, Failure | None], None]
"""Told of an activity with its result, or with why it failed for good."""


class Activities(Protocol):
    """The activities that a worker has to offer."""

    def code(self, activity_type: str) -> ActivityCode:
        """Return what an activity does."""


@dataclass(frozen=True)
class Setting:
    """What is the same for all executions of a workflow."""

    timeline: Timeline
    activities: Activities
    plugin: SimplePlugin
    converter: DataConverter
    limits: Limits
    sandboxed: bool


class PendingActivities:
    """Those that Temporal has, and the local ones that only a worker knows of."""

    def __init__(
        self, setting: Setting, *, ended: Ended, worker_away: Callable[[], timedelta]
    ) -> None:
        self._setting = setting
        self._tell = ended
        self._worker_away = worker_away
        self._normal: dict[int, Activity] = {}
        self._local: dict[int, Activity] = {}

    @property
    def has_local(self) -> bool:
        """Whether one keeps its workflow task open."""
        return bool(self._local)

    def schedule(self, call: ActivityCall) -> None:
        """Have an activity done.

        Raises LimitExceededError: Temporal would not take so many.
        """
        setting = self._setting
        activity = self._of(call)[call.seq] = Activity(
            call,
            setting.activities.code(call.type),
            timeline=setting.timeline,
            converter=setting.converter.payload_converter,
            ended=self._ended,
            worker_away=self._worker_away,
        )
        if len(self._normal) > setting.limits.pending_activities:
            raise LimitExceededError(f"{len(self._normal)} pending activities")
        setting.timeline.after(timedelta(0), activity.begin)

    def cancel(self, seq: int) -> ActivityCall | None:
        """Wait for an activity no longer; None when it is not waited for."""
        activity = self._normal.pop(seq, None) or self._local.pop(seq, None)
        if activity is None:
            return None
        activity.give_up()
        return activity.call

    def give_up(self) -> None:
        """Wait for none of them any more."""
        for activity in [*self._normal.values(), *self._local.values()]:
            activity.give_up()

    def lose_worker(self) -> None:
        """Have the worker die that they are on."""
        for activity in self._normal.values():
            activity.lose_worker()
        for activity in self._local.values():
            activity.give_up()

    def redo_local(self, *, forgotten: list[int]) -> None:
        """Begin local ones anew, but for those that nobody knows of any more."""
        given_up, self._local = self._local, {}
        for seq, activity in given_up.items():
            activity.give_up()
            if seq not in forgotten:
                self.schedule(activity.call)

    def _ended(self, activity: Activity, result: object, failure: Failure | None) -> None:
        call = activity.call
        del self._of(call)[call.seq]
        self._tell(call, result, failure)

    def _of(self, call: ActivityCall) -> dict[int, Activity]:
        return self._local if call.local else self._normal
