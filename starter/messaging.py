"""Talking to a run's workflow: asking what a message would do, and sending it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final, Self

from temporalio.client import (
    Client,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from api.runs import UpdateRun
from planning.identity import RunRef
from starter import temporal
from starter.failures import CommandFailure
from starter.targets import Target
from workflows.encryption import ENCODED_FAILURE, EncryptedError
from workflows.encryption import VARIABLE as KEYS_VARIABLE
from workflows.messages import Answer, Approve, ChangeState, Forecast

ANSWER_WITHIN: Final = timedelta(seconds=10)
"""Longer than a worker takes to answer that has just replaced a killed one."""


_NO_WORKER: Final = "no worker answers"
_WITHOUT_WORKER: Final = (
    RPCStatusCode.FAILED_PRECONDITION,  # no worker has polled recently
    RPCStatusCode.DEADLINE_EXCEEDED,
)


class Unanswered(Exception):  # noqa: N818 - it is an outcome, not an error
    """No workflow answered the message; the text says why."""


class NotRunning(Unanswered):
    """The run has no workflow, or its workflow has ended."""


def reference(run: UpdateRun, target: Target) -> RunRef:
    """Return the reference of a run, which names its workflow."""
    metadata = run.metadata
    return RunRef(
        scope_name=target.scope.name,
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
    )


class Line:
    """A connection to the workflow of one run."""

    def __init__(self, client: Client, ref: RunRef) -> None:
        self._handle = client.get_workflow_handle(ref.workflow_id)

    @classmethod
    async def to(cls, target: Target, ref: RunRef) -> Self:
        """Connect to Temporal. Raises Unanswered if it is unreachable."""
        try:
            return cls(await temporal.connect(target), ref)
        except temporal.OutOfReach as reason:
            raise Unanswered(str(reason)) from reason

    async def consult(self, query: str, *arguments: Approve) -> Forecast:
        """Ask what a message would do. Raises Unanswered if no workflow answers."""
        with _unanswered():
            try:
                async with asyncio.timeout(ANSWER_WITHIN.total_seconds()):
                    verdict: Forecast = await self._handle.query(
                        query, args=arguments, result_type=Forecast
                    )
            except (WorkflowQueryFailedError, EncryptedError):
                # A worker of an earlier version does not know the query, or its answer cannot be
                # decrypted here. The request is then made without asking first.
                return Forecast()
        return verdict

    async def send(self, update: str, message: ChangeState | Approve) -> str:
        """Send the message and return the workflow's answer.

        Raises Unanswered if no workflow answers, and CommandFailure with the workflow's own words
        if it refuses.
        """
        with _unanswered():
            try:
                async with asyncio.timeout(ANSWER_WITHIN.total_seconds()):
                    answer: Answer = await self._handle.execute_update(
                        update, message, result_type=Answer
                    )
            except WorkflowUpdateFailedError as error:
                raise CommandFailure(_refusal(error), advice=_to_read(error)) from error
            except EncryptedError as error:
                raise CommandFailure(
                    f"the workflow got the message, but its answer cannot be read: {error}",
                    advice="`fleetgate run show` shows the result",
                ) from error
        return answer.text


@contextmanager
def _unanswered() -> Iterator[None]:
    try:
        yield
    except (TimeoutError, WorkflowUpdateRPCTimeoutOrCancelledError) as error:
        raise Unanswered(_NO_WORKER) from error
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise NotRunning("the run has no running workflow") from error
        raise Unanswered(_why(error)) from error


def _refusal(error: WorkflowUpdateFailedError) -> str:
    """Return the workflow's words, without the name of the exception type."""
    cause = error.cause
    return cause.message if isinstance(cause, ApplicationError) else str(cause)


def _to_read(error: WorkflowUpdateFailedError) -> str:
    """Return what to do to decrypt the refusal; empty if it is readable."""
    if _refusal(error) != ENCODED_FAILURE:
        return ""
    return f"the workflow's answer is encrypted: set {KEYS_VARIABLE} to a file with the keys"


def _why(error: RPCError) -> str:
    if error.status in _WITHOUT_WORKER:
        return _NO_WORKER
    return f"Temporal says: {error.message}"
