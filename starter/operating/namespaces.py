"""The namespace of Temporal that holds the runs' workflows."""

from datetime import timedelta
from typing import Final

from google.protobuf.duration_pb2 import Duration
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    RegisterNamespaceRequest,
    UpdateNamespaceRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from planning import durations
from starter.failures import ExitCode, Failure
from starter.operating.asking import until

DEFAULT_RETENTION: Final = timedelta(days=30)
"""Of a namespace that is made: as long as people ask who rolled out what, and why."""
LEAST_RETENTION: Final = timedelta(days=1)
"""Temporal takes no less."""


async def ensure(client: Client, *, create: bool, retention: timedelta | None) -> str:
    """Have the namespace as it is wanted, and say what was done.

    Raises Failure when there is none and none is to be made.
    """
    kept = await _retention(client)
    if kept is None:
        return await _create(client, retention or DEFAULT_RETENTION, create=create)
    if retention is None or retention == kept:
        return f"namespace {client.namespace} is there; it keeps ended runs for {_days(kept)}"
    await client.workflow_service.update_namespace(
        UpdateNamespaceRequest(namespace=client.namespace, config=_kept_for(retention))
    )
    return (
        f"namespace {client.namespace} keeps ended runs for {_days(retention)} now; it was "
        f"{_days(kept)}"
    )


async def _retention(client: Client) -> timedelta | None:
    """How long the namespace keeps workflows that have ended; None if there is no namespace."""
    try:
        found = await client.workflow_service.describe_namespace(
            DescribeNamespaceRequest(namespace=client.namespace)
        )
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return None
        raise
    return found.config.workflow_execution_retention_ttl.ToTimedelta()


async def _create(client: Client, retention: timedelta, *, create: bool) -> str:
    if not create:
        raise Failure(
            f"Temporal has no namespace {client.namespace}",
            advice="make it with --create-namespace, or name another one with TEMPORAL_NAMESPACE",
            exit_code=ExitCode.NOT_FOUND,
        )
    await client.workflow_service.register_namespace(
        RegisterNamespaceRequest(
            namespace=client.namespace,
            description="Update runs of fleetgate",
            workflow_execution_retention_period=_duration(retention),
        )
    )
    # Its parts learn of it one after the other, and tell nobody.
    await until(lambda: _is_known(client))
    return f"namespace {client.namespace} is made; it keeps ended runs for {_days(retention)}"


async def _is_known(client: Client) -> bool:
    try:
        async for _ in client.list_workflows(page_size=1):
            break
        await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=client.namespace)
        )
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            return False
        raise
    return True


def _kept_for(retention: timedelta) -> NamespaceConfig:
    return NamespaceConfig(workflow_execution_retention_ttl=_duration(retention))


def _duration(value: timedelta) -> Duration:
    found = Duration()
    found.FromTimedelta(value)
    return found


def _days(value: timedelta) -> str:
    days, rest = divmod(value, timedelta(days=1))
    if rest:
        return durations.format_duration(value)
    return "1 day" if days == 1 else f"{days} days"
