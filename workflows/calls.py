"""How activities are called: their timeouts and retry policies, each with its reason."""

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, Final, TypeVar

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.workflow import ActivityCancellationType, ActivityHandle

with workflow.unsafe.imports_passed_through():
    from activities.requests import (
        ActivityMessage,
        FollowBindings,
        StatusWritten,
        WriteStatus,
        activity_of,
    )
    from activities.stubs import FOLLOW_BINDINGS, WRITE_STATUS, Stub
    from planning.errors import InitializationError, RunAborted

RequestT = TypeVar("RequestT", bound=ActivityMessage)
AnswerT = TypeVar("AnswerT")

SHORT: Final = timedelta(seconds=30)
"""An effect is a few requests to the hub at most; if it takes longer, its worker was lost."""
UNBOUNDED: Final = timedelta(days=3650)
"""A cluster may take any length of time: a stuck one is reported, but never an error."""
PATIENT: Final = RetryPolicy(
    initial_interval=timedelta(milliseconds=200),
    backoff_coefficient=2,
    maximum_interval=timedelta(seconds=5),
)
"""Retries until the hub is back, at short intervals because a person may be waiting."""
MOST_IN_ONE_STEP: Final = 200
"""Maximum number of clusters handed out in one workflow task."""
_RUN_ERRORS: Final = {each.__name__: each for each in (InitializationError, RunAborted)}
"""Errors by the type name that `activities.errors` gives them; they are never retried."""
LOST_AFTER: Final = timedelta(seconds=3)
"""An activity without a heartbeat for this long has lost its worker. Short, because the run makes
no progress until the activity is started elsewhere. Costs one request every 2.4 s for a run with
clusters in flight."""


async def effect(
    stub: Stub[RequestT, AnswerT],
    request: RequestT,
    *,
    summary: str = "",
    lost_after: timedelta | None = None,
) -> AnswerT:
    """Run an activity that takes moments, retried until the hub accepts it.

    One that heartbeats is retried soon if its worker is lost: after `lost_after`.

    Raises RunError if the activity reports that retrying is of no use.
    """
    with _run_errors():
        answered: AnswerT = await workflow.execute_activity(
            stub.name,
            request,
            result_type=stub.answers,
            start_to_close_timeout=SHORT,
            heartbeat_timeout=lost_after,
            retry_policy=PATIENT,
            summary=summary or None,
        )
        return answered


async def status_write(request: WriteStatus) -> StatusWritten:
    """Write a run's status, retried until the hub accepts it, and soon if the worker was lost."""
    return await effect(WRITE_STATUS, request, summary="status", lost_after=LOST_AFTER)


async def cluster(stub: Stub[RequestT, AnswerT], request: RequestT, *, cluster: str) -> AnswerT:
    """Run the activity of one cluster until the follower of the bindings completes it.

    The activity's id contains the cluster's name, so that the follower finds it.
    """
    with _run_errors():
        answered: AnswerT = await workflow.execute_activity(
            stub.name,
            request,
            result_type=stub.answers,
            activity_id=activity_of(cluster),
            start_to_close_timeout=UNBOUNDED,
            retry_policy=PATIENT,
            summary=cluster,
        )
        return answered


def follower(request: FollowBindings, *, summary: str) -> ActivityHandle[Any]:
    """Start following the bindings of clusters in flight.

    Cancel the handle to end it; the handle is done once the follower has ended, which takes up to
    `LOST_AFTER`.
    """
    handle = workflow.start_activity(
        FOLLOW_BINDINGS.name,
        request,
        start_to_close_timeout=UNBOUNDED,
        heartbeat_timeout=LOST_AFTER,
        retry_policy=PATIENT,
        # Temporal shows the activity as pending until it has noticed the cancellation.
        cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        summary=summary,
    )
    # It ends only by being cancelled, so its error is of no interest.
    _look_at_the_end(handle)
    return handle


class HandOutPace:
    """Spreads clusters that could be handed out at once over several workflow tasks.

    The commands of a workflow task are one message to Temporal, of at most 4 MB, and the task must
    end within two seconds.
    """

    def __init__(self) -> None:
        self._step = 0
        self._taken = 0
        self._timer: asyncio.Task[None] | None = None

    def take(self) -> bool:
        """Take a turn of the current workflow task; return whether there was one left."""
        if self._step != (step := workflow.info().get_current_history_length()):
            self._step, self._taken = step, 0
        self._taken += 1
        return self._taken <= MOST_IN_ONE_STEP

    async def turn(self) -> None:
        """Take a turn, in a later workflow task if none is left in this one."""
        while not self.take():
            await self.next_step()

    async def next_step(self) -> None:
        """Wait for the next workflow task; waiters resume in the order in which they called."""
        info, step = workflow.info(), self._step
        if self._timer is None or self._timer.done():
            soon = workflow.sleep(timedelta(milliseconds=1), summary="the next clusters")
            self._timer = asyncio.create_task(soon)
        await workflow.wait_condition(lambda: info.get_current_history_length() != step)


async def supervised(
    work: Coroutine[Any, Any, AnswerT], keepers: Sequence[asyncio.Task[None]]
) -> AnswerT:
    """Return the result of the work, and fail the workflow task if a keeper fails meanwhile.

    A failed keeper is a defect: unnoticed, the run would hang or continue without its status.
    """
    task = asyncio.create_task(work)
    at_work = list(keepers)
    try:
        while not task.done():
            await workflow.wait([task, *at_work], return_when=asyncio.FIRST_COMPLETED)
            for keeper in [each for each in at_work if each.done()]:
                at_work.remove(keeper)
                keeper.result()
        return task.result()
    except (Exception, asyncio.CancelledError):
        # Cancelled, or a keeper failed: do not leave the work running. Not in `finally`, because
        # a workflow that is evicted from memory must not wait for anything.
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        raise


def give_up(task: asyncio.Task[Any]) -> None:
    """Cancel a task whose result no longer matters."""
    _look_at_the_end(task)
    task.cancel()


def _look_at_the_end(task: asyncio.Task[Any]) -> None:
    # asyncio warns about an exception that is never retrieved.
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())


@contextmanager
def _run_errors() -> Iterator[None]:
    """Unwrap an activity's verdict on the run from the errors that Temporal wraps it in."""
    try:
        yield
    except ActivityError as error:
        cause = error.cause
        if not isinstance(cause, ApplicationError) or cause.type not in _RUN_ERRORS:
            raise
        raise _RUN_ERRORS[cause.type](cause.message) from error
