"""Dropping or refusing messages that no handler can accept, so that none can stall a run.

Anyone who can reach Temporal can send a message with too many arguments, or with bytes in place of
JSON. The SDK passes them to the handler as they are. If the handler then raises, the workflow task
fails, and Temporal retries it forever: the run would be stuck for good. Signals whose JSON does not
have the message's form are dropped by the SDK itself, and such updates are refused.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from temporalio import workflow
from temporalio.worker import (
    HandleSignalInput,
    HandleUpdateInput,
    Interceptor,
    WorkflowInboundInterceptor,
    WorkflowInterceptorClassInput,
)


class Deliverable(Interceptor):
    """Checks the arguments of each message before its handler gets it."""

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002 - the SDK's name
    ) -> type[WorkflowInboundInterceptor]:
        """Return the interceptor between Temporal and a workflow."""
        return _Inbound


class _Inbound(WorkflowInboundInterceptor):
    async def handle_signal(self, input: HandleSignalInput) -> None:  # noqa: A002
        if problem := _problem(input.args):
            workflow.logger.warning("signal %s dropped: %s", input.signal, problem)
            return
        await super().handle_signal(input)

    def handle_update_validator(self, input: HandleUpdateInput) -> None:  # noqa: A002
        if problem := _problem(input.args):
            raise ValueError(problem)
        super().handle_update_validator(input)


def _problem(given: Sequence[Any]) -> str:
    """Return why no handler can accept the arguments; empty if one can. There may be none."""
    if len(given) > 1:
        return f"it came with {len(given)} arguments; send one JSON object"
    # The SDK decodes a JSON object to a message, which is a model; anything else is foreign.
    odd = [type(each).__name__ for each in given if not isinstance(each, BaseModel)]
    return f"it came with {odd[0]}; send one JSON object" if odd else ""
