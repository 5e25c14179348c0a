"""Sending a message to a run's workflow, as a Temporal update that is answered."""

import asyncio
from datetime import timedelta
from typing import Final

from temporalio.client import (
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from api.runs import UpdateRun
from planning.identity import RunRef
from starter import temporal
from starter.failures import Failure
from starter.targets import Target
from workflows.messages import Answer, Approve, ChangeState

ANSWER_WITHIN: Final = timedelta(seconds=10)
"""Longer than a worker needs that has just been started in the place of a killed one."""


class Unanswered(Exception):  # noqa: N818 - it is an outcome, not an error
    """No workflow took the message; the text says why."""


def reference(run: UpdateRun, target: Target) -> RunRef:
    """Which workflow drives the run."""
    metadata = run.metadata
    return RunRef(
        scope_name=target.scope.name,
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
    )


async def ask(target: Target, ref: RunRef, update: str, message: ChangeState | Approve) -> str:
    """Send the message and return the workflow's answer.

    Raises Unanswered when no workflow could be asked, Failure with the workflow's words when it
    refuses.
    """
    try:
        client = await temporal.connect(target)
    except temporal.OutOfReach as reason:
        raise Unanswered(str(reason)) from reason
    handle = client.get_workflow_handle(ref.workflow_id)
    try:
        async with asyncio.timeout(ANSWER_WITHIN.total_seconds()):
            answer: Answer = await handle.execute_update(update, message, result_type=Answer)
    except WorkflowUpdateFailedError as error:
        raise Failure(_refusal(error)) from error
    except (TimeoutError, WorkflowUpdateRPCTimeoutOrCancelledError) as error:
        raise Unanswered("no worker answers") from error
    except RPCError as error:
        raise Unanswered(_why(error)) from error
    return answer.text


def _refusal(error: WorkflowUpdateFailedError) -> str:
    """The workflow's words, without the name that Python has for them."""
    cause = error.cause
    return cause.message if isinstance(cause, ApplicationError) else str(cause)


def _why(error: RPCError) -> str:
    if error.status is RPCStatusCode.NOT_FOUND:
        return "the run has no running workflow"
    return f"Temporal says: {error.message}"
