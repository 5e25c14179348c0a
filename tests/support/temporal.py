"""Temporal namespaces without any setup for fleetgate."""

from datetime import timedelta

from google.protobuf.duration_pb2 import Duration
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.service import RPCError

from tests.support.eventually import eventually
from workflows.plugin import connect

_KEPT = Duration(seconds=round(timedelta(days=1).total_seconds()))


async def bare_namespace(address: str, name: str) -> Client:
    """Create a namespace without search attributes, and return a client for it."""
    client = await connect({"TEMPORAL_ADDRESS": address, "TEMPORAL_NAMESPACE": name})
    await register(client)
    await eventually(lambda: _is_known(client))
    return client


async def register(client: Client) -> None:
    """Create the client's namespace, which the server serves after some seconds."""
    await client.workflow_service.register_namespace(
        RegisterNamespaceRequest(
            namespace=client.namespace, workflow_execution_retention_period=_KEPT
        )
    )


async def _is_known(client: Client) -> bool:
    """Return whether the server serves the namespace yet."""
    try:
        async for _ in client.list_workflows():
            break
        await registered(client)
    except RPCError:
        return False
    return True


async def registered(client: Client) -> list[str]:
    """Return the names of the search attributes in the client's namespace."""
    listed = await client.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=client.namespace)
    )
    return sorted(listed.custom_attributes)
