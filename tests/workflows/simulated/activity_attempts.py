"""Attempts of activities: what their code sees, and what Temporal does when they end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final, TypeVar

from temporalio.api.enums.v1 import TimeoutType
from temporalio.api.failure.v1 import Failure
from temporalio.converter import PayloadConverter

from tests.workflows.simulated.sdk_instance import ActivityCall
from tests.workflows.simulated.timeline import Timeline

RequestT = TypeVar("RequestT")
ActivityCode = Callable[["Attempt"], None]
"""The code of an activity; it schedules its own end."""

_SILENT: Final = TimeoutType.TIMEOUT_TYPE_HEARTBEAT
_TOOK_TOO_LONG: Final = TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE
_MOST_DOUBLINGS: Final = 20
"""After these, each pause has its maximum; more doublings could overflow."""
MOST_LOCAL_BACKOFF: Final = timedelta(seconds=10)
"""A longer pause of a local activity becomes a timer, which is not simulated."""


class Attempt:
    """One attempt of an activity."""

    def __init__(self, activity: Activity, number: int) -> None:
        self._activity = activity
        self.number = number
        """Number of the attempt, from 1."""
        self.is_open = True
        """Whether its worker is alive and its result is wanted."""
        self.is_detached = False
        """Whether it is completed from elsewhere: it is on no worker, so it cannot be lost with
        one."""
        self._is_over = False

    @property
    def call(self) -> ActivityCall:
        """The workflow's call of the activity."""
        return self._activity.call

    def request(self, kind: type[RequestT]) -> RequestT:
        """Return its argument."""
        (found,) = self._activity.converter.from_payloads(list(self.call.arguments), [kind])
        assert isinstance(found, kind)
        return found

    def after(self, seconds: float, deed: Callable[[], None]) -> None:
        """Do something later, if it is still open then."""
        self._activity.timeline.after(
            timedelta(seconds=seconds), lambda: deed() if self.is_open else None
        )

    def detach(self) -> None:
        """Leave it open, to be completed from elsewhere."""
        self.is_detached = True

    def close(self) -> None:
        """End it without notifying the workflow."""
        self.is_open, self._is_over = False, True

    def complete(self, result: object = None) -> None:
        """End it successfully."""
        if self.is_open:
            self.close()
            self._activity.completed(result)

    def fail(self, kind: str, message: str = "", *, final: bool = False) -> None:
        """End it with an error; Temporal retries it unless the error is final."""
        if not self.is_open:
            return
        failure = Failure(message=message or kind)
        failure.application_failure_info.type = kind
        failure.application_failure_info.non_retryable = final
        self.close()
        self._activity.failed(failure, final=final)

    @property
    def is_lost(self) -> bool:
        """Whether its worker died, and Temporal has not noticed yet."""
        return not (self.is_open or self._is_over)

    def fail_lost(self) -> None:
        """End it in place of its worker."""
        if self.is_lost:
            self.is_open = True
            self.fail("WorkerLost")

    def lose_worker(self) -> None:
        """Kill its worker; without heartbeats only the start-to-close timeout notices it."""
        if self.is_open and not self.is_detached:
            self.is_open = False
            if self.call.heartbeat:
                self._activity.timeline.after(self.call.heartbeat, lambda: self.time_out(_SILENT))

    def time_out(self, kind: TimeoutType.ValueType) -> None:
        """End it with a timeout."""
        if self._is_over:
            return
        failure = Failure(message="activity timeout")
        failure.timeout_failure_info.timeout_type = kind
        self.close()
        self._activity.failed(failure, final=False)


class Activity:
    """An activity from its scheduling to its end, over all attempts."""

    def __init__(
        self,
        call: ActivityCall,
        code: ActivityCode,
        *,
        timeline: Timeline,
        converter: PayloadConverter,
        ended: Callable[[Activity, object, Failure | None], None],
        worker_away: Callable[[], timedelta],
    ) -> None:
        """`ended` is called at the end; `worker_away` returns how long there will be no worker."""
        self.call = call
        self.timeline = timeline
        self.converter = converter
        self.is_wanted = True
        """Whether the workflow still waits for it."""
        self._code = code
        self._ended = ended
        self._worker_away = worker_away
        self._attempt = Attempt(self, 0)

    def begin(self) -> None:
        """Start the next attempt as soon as there is a worker."""
        if not self.is_wanted:
            return
        if away := self._worker_away():
            self.timeline.after(away, self.begin)
            return
        attempt = self._attempt = Attempt(self, self._attempt.number + 1)
        self.timeline.after(self.call.start_to_close, lambda: attempt.time_out(_TOOK_TOO_LONG))
        self._code(attempt)

    def completed(self, result: object) -> None:
        """Handle the result of an attempt."""
        if self.is_wanted:
            self.is_wanted = False
            self._ended(self, result, None)

    def failed(self, failure: Failure, *, final: bool) -> None:
        """Handle the failure of an attempt, and retry according to the policy."""
        if not self.is_wanted:
            return
        pause = None if final else self._backoff()
        if pause is None:
            self.is_wanted = False
            self._ended(self, None, self._as_seen(failure))
        else:
            assert not self.call.local or pause <= MOST_LOCAL_BACKOFF, "not simulated"
            self.timeline.after(pause, self.begin)

    def give_up(self) -> None:
        """Stop waiting for it."""
        self.is_wanted = False
        self._attempt.close()

    def lose_worker(self) -> None:
        """Kill the worker that it runs on."""
        self._attempt.lose_worker()

    def _backoff(self) -> timedelta | None:
        """Return the pause before the next attempt; None if there is none."""
        policy, number = self.call.retry, self._attempt.number
        if policy.maximum_attempts and number >= policy.maximum_attempts:
            return None
        longest = policy.maximum_interval or 100 * policy.initial_interval
        times = policy.backoff_coefficient ** min(number - 1, _MOST_DOUBLINGS)
        return min(policy.initial_interval * times, longest)

    def _as_seen(self, failure: Failure) -> Failure:
        """Return the failure as the workflow gets it; that of a local activity is not wrapped."""
        if self.call.local:
            return failure
        seen = Failure(message="Activity task failed", cause=failure)
        info: Any = seen.activity_failure_info
        info.activity_id, info.activity_type.name = self.call.id, self.call.type
        return seen
