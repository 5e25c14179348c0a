"""A client of Temporal that sends nothing once its process no longer leads."""

from collections.abc import Callable
from typing import Any

from temporalio.client import (
    CancelWorkflowInput,
    Client,
    Interceptor,
    OutboundInterceptor,
    SignalWorkflowInput,
    StartWorkflowInput,
    WorkflowHandle,
)

Check = Callable[[], None]
"""Raises hub.Fenced if another process may lead."""


def fenced(client: Client, check: Check) -> Client:
    """Return a client over the same connection that calls `check` before each write to a workflow.

    Writes are starts, signals and cancellations.
    """
    config = client.config()
    config["interceptors"] = [*config["interceptors"], _Fence(check)]
    return Client(**config)


class _Fence(Interceptor):
    def __init__(self, check: Check) -> None:
        self._check = check

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:  # noqa: A002 - its name
        """Return the interceptor in front of the one that sends."""
        return _Fenced(next, self._check)


class _Fenced(OutboundInterceptor):
    """Checks each write that the bridge makes in Temporal."""

    def __init__(self, inner: OutboundInterceptor, check: Check) -> None:
        super().__init__(inner)
        self._check = check

    async def start_workflow(self, input: StartWorkflowInput) -> WorkflowHandle[Any, Any]:  # noqa: A002 - its name
        """Check, then start a workflow, with or without a signal."""
        self._check()
        return await super().start_workflow(input)

    async def signal_workflow(self, input: SignalWorkflowInput) -> None:  # noqa: A002 - its name
        """Check, then send a signal."""
        self._check()
        await super().signal_workflow(input)

    async def cancel_workflow(self, input: CancelWorkflowInput) -> None:  # noqa: A002 - its name
        """Check, then cancel the workflow of a deleted run."""
        self._check()
        await super().cancel_workflow(input)
