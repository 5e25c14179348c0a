"""The activities that an execution waits for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.converter import DataConverter
from temporalio.plugin import SimplePlugin

from tests.workflows.simulated.activity_attempts import Activity, ActivityCode
from tests.workflows.simulated.histories import LimitExceededError, Limits
from tests.workflows.simulated.sdk_instance import ActivityCall
from tests.workflows.simulated.timeline import Timeline

Ended = Callable[[ActivityCall, object, Failure | None], None]
"""Called with an activity and its result, or its final failure."""


class Activities(Protocol):
    """The activities of a worker."""

    def code(self, activity_type: str) -> ActivityCode:
        """Return the code of an activity."""


Signal = Callable[[str, str, Sequence[Payload]], bool]
"""Signals another workflow by its id; returns whether it is running."""


def _nobody(_: str, _name: str, _arguments: Sequence[Payload]) -> bool:
    return False


@dataclass(frozen=True)
class Setting:
    """Settings that are the same for all executions of a workflow."""

    timeline: Timeline
    activities: Activities
    plugin: SimplePlugin
    converter: DataConverter
    limits: Limits
    sandboxed: bool
    signal: Signal = _nobody


class PendingActivities:
    """The activities in Temporal, and the local ones that only the worker knows."""

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
        """Whether a local activity keeps its workflow task open."""
        return bool(self._local)

    def schedule(self, call: ActivityCall) -> None:
        """Schedule an activity.

        Raises LimitExceededError: Temporal would not accept so many.
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
        """Stop waiting for an activity, and return it; None if it is not pending."""
        activity = self._normal.pop(seq, None) or self._local.pop(seq, None)
        if activity is None:
            return None
        activity.give_up()
        return activity.call

    def give_up(self) -> None:
        """Stop waiting for all activities."""
        for activity in [*self._normal.values(), *self._local.values()]:
            activity.give_up()

    def lose_worker(self) -> None:
        """Kill the worker that they run on."""
        for activity in self._normal.values():
            activity.lose_worker()
        for activity in self._local.values():
            activity.give_up()

    def redo_local(self, *, forgotten: list[int]) -> None:
        """Start local activities again, except the forgotten ones."""
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
