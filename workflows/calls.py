"""How activities are called: their time-outs and retries, each said once, with its reason."""

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
    from activities.requests import Request, activity_of
    from planning.errors import InitializationError, RunAborted

AnswerT = TypeVar("AnswerT")

SHORT: Final = timedelta(seconds=30)
"""An effect is one or a few requests to the hub; longer means that its worker was lost."""
UNBOUNDED: Final = timedelta(days=3650)
"""A cluster takes as long as it takes: being stuck is reported, never an error."""
PATIENT: Final = RetryPolicy(
    initial_interval=timedelta(milliseconds=200),
    backoff_coefficient=2,
    maximum_interval=timedelta(seconds=5),
)
"""The hub comes back; soon is better than rarely, since a person may be waiting."""
MOST_IN_ONE_STEP: Final = 200
"""Clusters that are handed out in one step."""
_RUN_ERRORS: Final = {each.__name__: each for each in (InitializationError, RunAborted)}
"""What `activities.errors` calls them; they are never retried."""
LOST_AFTER: Final = timedelta(seconds=3)
"""Without a heartbeat for this long, an activity's worker is dead: the run stands still until it
is started elsewhere, so short. Costs a request each 2.4 s for a run with clusters in flight."""


async def effect(
    name: str, request: Request, answer: type[AnswerT], *, summary: str = ""
) -> AnswerT:
    """Ask for an effect that is over in moments, repeated until the hub takes it.

    Raises RunError when the activity says that repeating is of no use.
    """
    with _run_errors():
        answered: AnswerT = await workflow.execute_activity(
            name,
            request,
            result_type=answer,
            start_to_close_timeout=SHORT,
            retry_policy=PATIENT,
            summary=summary or None,
        )
        return answered


async def status_write(request: Request, answer: type[AnswerT]) -> AnswerT:
    """Write a run's status, repeated until the hub takes it, and soon if its worker was lost."""
    answered: AnswerT = await workflow.execute_activity(
        "write_status",
        request,
        result_type=answer,
        start_to_close_timeout=SHORT,
        heartbeat_timeout=LOST_AFTER,
        retry_policy=PATIENT,
        summary="status",
    )
    return answered


async def cluster(name: str, request: Request, answer: type[AnswerT], *, cluster: str) -> AnswerT:
    """Work on one cluster until the follower of its bindings says that it is done.

    The activity's id is made of the cluster's name, by which the follower finds it.
    """
    with _run_errors():
        answered: AnswerT = await workflow.execute_activity(
            name,
            request,
            result_type=answer,
            activity_id=activity_of(cluster),
            start_to_close_timeout=UNBOUNDED,
            retry_policy=PATIENT,
            summary=cluster,
        )
        return answered


def follower(request: Request, *, summary: str) -> ActivityHandle[Any]:
    """Start following the bindings of clusters in flight.

    Cancel the handle to end it; it is done when the follower has ended, up to `LOST_AFTER` later.
    """
    handle = workflow.start_activity(
        "follow_bindings",
        request,
        start_to_close_timeout=UNBOUNDED,
        heartbeat_timeout=LOST_AFTER,
        retry_policy=PATIENT,
        # Until it has heard of that, Temporal shows it as pending.
        cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
        summary=summary,
    )
    # Its only end is to be cancelled.
    _look_at_the_end(handle)
    return handle


class Pace:
    """Spreads what could be handed out at once over several steps of a workflow.

    The commands of a step are one message to Temporal, which takes 4 MB, and a step has to be over
    in two seconds.
    """

    def __init__(self) -> None:
        self._step = 0
        self._taken = 0
        self._timer: asyncio.Task[None] | None = None

    def take(self) -> bool:
        """Take one of the turns of this step, if there is one left."""
        if self._step != (step := workflow.info().get_current_history_length()):
            self._step, self._taken = step, 0
        self._taken += 1
        return self._taken <= MOST_IN_ONE_STEP

    async def turn(self) -> None:
        """Take a turn, in a later step if there is none left."""
        while not self.take():
            await self.next_step()

    async def next_step(self) -> None:
        """Wait until this step is over, in the order of asking."""
        info, step = workflow.info(), self._step
        if self._timer is None or self._timer.done():
            soon = workflow.sleep(timedelta(milliseconds=1), summary="the next clusters")
            self._timer = asyncio.create_task(soon)
        await workflow.wait_condition(lambda: info.get_current_history_length() != step)


async def supervised(
    work: Coroutine[Any, Any, AnswerT], keepers: Sequence[asyncio.Task[None]]
) -> AnswerT:
    """Return the result of the work, and fail the workflow task if a keeper fails meanwhile.

    A failed keeper is a defect: unnoticed, the run would hang or go on without its status.
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
        # a workflow that is dropped from memory must not wait for anything.
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        raise


def give_up(task: asyncio.Task[Any]) -> None:
    """Cancel something whose end makes no difference any more."""
    _look_at_the_end(task)
    task.cancel()


def _look_at_the_end(task: asyncio.Task[Any]) -> None:
    # asyncio complains of an error that nobody has looked at.
    task.add_done_callback(lambda ended: ended.cancelled() or ended.exception())


@contextmanager
def _run_errors() -> Iterator[None]:
    """Unwrap what an activity says of the run from what Temporal puts around it."""
    try:
        yield
    except ActivityError as error:
        cause = error.cause
        if not isinstance(cause, ApplicationError) or cause.type not in _RUN_ERRORS:
            raise
        raise _RUN_ERRORS[cause.type](cause.message) from error
