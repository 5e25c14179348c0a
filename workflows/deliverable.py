"""Messages that no handler could take are dropped or refused, so that none can stall a run.

Anybody who reaches Temporal can send a message with one argument too many, or none, or with bytes
in the place of JSON. The SDK hands them to the handler as they are; what a handler raises then
fails the step, which Temporal repeats for ever: the run would stand still for good. JSON that is
not of the message's form, the SDK itself drops from a signal and refuses in an update.
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
    """Looks at what comes with each message before its handler gets it."""

    def workflow_interceptor_class(
        self,
        input: WorkflowInterceptorClassInput,  # noqa: A002 - the SDK's name
    ) -> type[WorkflowInboundInterceptor]:
        """What is put between Temporal and a workflow."""
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
    """Why no handler can take what was sent; empty if one can. A message may be left out."""
    if len(given) > 1:
        return f"it came with {len(given)} arguments, send one JSON object"
    # Each message of ours is one, made of JSON.
    odd = [type(each).__name__ for each in given if not isinstance(each, BaseModel)]
    return f"it came with {odd[0]}, send one JSON object" if odd else ""
