"""Sending a message to a run's workflow, as a Temporal update that is answered."""

import asyncio
import os
from datetime import timedelta
from typing import Final

from temporalio.client import (
    Client,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.service import RPCError, RPCStatusCode

from api.runs import UpdateRun
from deploy.local.ports import LOOPBACK
from deploy.local.state import TEMPORAL, load
from planning.identity import RunRef
from starter.failures import Failure
from starter.targets import Target
from workflows import plugin
from workflows.messages import Answer, Approve, ChangeState

CONNECT_WITHIN: Final = timedelta(seconds=3)
"""A Temporal that takes longer counts as out of reach: a person is waiting."""
ANSWER_WITHIN: Final = timedelta(seconds=10)
"""Longer than a worker needs that has just been started in the place of a killed one."""
_NAMES_A_TEMPORAL: Final = ("TEMPORAL_ADDRESS", "TEMPORAL_PROFILE", "TEMPORAL_CONFIG_FILE")
"""Variables by which a person chooses a Temporal; without one the SDK takes localhost:7233."""


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
    client = await _connect(target)
    handle = client.get_workflow_handle(ref.workflow_id)
    try:
        async with asyncio.timeout(ANSWER_WITHIN.total_seconds()):
            answer: Answer = await handle.execute_update(update, message, result_type=Answer)
    except WorkflowUpdateFailedError as error:
        raise Failure(str(error.cause)) from error
    except (TimeoutError, WorkflowUpdateRPCTimeoutOrCancelledError) as error:
        raise Unanswered("no worker answers") from error
    except RPCError as error:
        raise Unanswered(_why(error)) from error
    return answer.text


async def _connect(target: Target) -> Client:
    try:
        async with asyncio.timeout(CONNECT_WITHIN.total_seconds()):
            return await plugin.connect(_environment(target))
    except (TimeoutError, RuntimeError, OSError) as error:
        raise Unanswered("Temporal cannot be reached") from error


def _environment(target: Target) -> dict[str, str]:
    """The environment, with the local fleet's Temporal in it if the hub is that fleet's.

    A Temporal that the environment names wins.
    """
    named = any(name in os.environ for name in _NAMES_A_TEMPORAL)
    state = load(target.fleet.state) if target.fleet and not named else None
    if state is None:
        return dict(os.environ)
    return {**os.environ, "TEMPORAL_ADDRESS": f"{LOOPBACK}:{state.ports[TEMPORAL]}"}


def _why(error: RPCError) -> str:
    if error.status is RPCStatusCode.NOT_FOUND:
        return "the run has no running workflow"
    return f"Temporal says: {error.message}"
