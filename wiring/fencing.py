"""A client of Temporal that sends nothing any more once its process has ceased to lead."""

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
"""Raises hub.Fenced when another process may lead."""


def fenced(client: Client, check: Check) -> Client:
    """Make a client over the same connection that asks before it starts or tells a workflow."""
    config = client.config()
    config["interceptors"] = [*config["interceptors"], _Fence(check)]
    return Client(**config)


class _Fence(Interceptor):
    def __init__(self, check: Check) -> None:
        self._check = check

    def intercept_client(self, next: OutboundInterceptor) -> OutboundInterceptor:  # noqa: A002 - its name
        """Stand before what sends."""
        return _Fenced(next, self._check)


class _Fenced(OutboundInterceptor):
    """What the bridge asks of Temporal."""

    def __init__(self, inner: OutboundInterceptor, check: Check) -> None:
        super().__init__(inner)
        self._check = check

    async def start_workflow(self, input: StartWorkflowInput) -> WorkflowHandle[Any, Any]:  # noqa: A002 - its name
        """A start, also one with a signal."""
        self._check()
        return await super().start_workflow(input)

    async def signal_workflow(self, input: SignalWorkflowInput) -> None:  # noqa: A002 - its name
        """A signal."""
        self._check()
        await super().signal_workflow(input)

    async def cancel_workflow(self, input: CancelWorkflowInput) -> None:  # noqa: A002 - its name
        """The end of a run that is deleted."""
        self._check()
        await super().cancel_workflow(input)
