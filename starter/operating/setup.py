"""`fleetgate temporal setup`: the Temporal namespace for the runs' workflows."""

from datetime import timedelta
from typing import Final

import click
from google.protobuf import duration_pb2
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
from starter import search_attributes
from starter.failures import ExitCode, Failure
from starter.helping import examples
from starter.operating.asking import ask, until
from starter.patience import Duration

WITHIN: Final = timedelta(seconds=60)
"""It takes about ten seconds until all services of Temporal know a new namespace."""


@click.command(
    epilog=examples(
        "fleetgate temporal setup",
        "TEMPORAL_NAMESPACE=rollouts fleetgate temporal setup --create-namespace --retention 720h",
    )
)
@click.option("--create-namespace", is_flag=True, help="Create the namespace if it does not exist.")
@click.option(
    "--retention",
    type=Duration(),
    metavar="DURATION",
    callback=lambda _, __, value: _long_enough(value),
    help="How long Temporal keeps ended runs, such as 720h  [default: unchanged, or 720h for a new "
    "namespace].",
)
def setup(create_namespace: bool, retention: timedelta | None) -> None:
    """Set up the Temporal namespace for runs: its retention and search attributes.

    Prints what it did. It leaves alone what is already set up, so you can run it again, or from a
    Job before each upgrade.
    """

    async def work(client: Client) -> None:
        click.echo(await _ensure(client, create=create_namespace, retention=retention))
        click.echo(await search_attributes.register(client))

    ask(
        work,
        wish="change namespace or search attributes",
        advice="ask Temporal's administrators to set namespace and retention, and to run the "
        "commands that `fleetgate search-attributes --print` shows",
        within=WITHIN,
    )


def _long_enough(value: timedelta | None) -> timedelta | None:
    if value is not None and value < LEAST_RETENTION:
        raise click.BadParameter("Temporal keeps runs for at least 24h")
    return value


# -- the namespace -------------------------------------------------------------------------


DEFAULT_RETENTION: Final = timedelta(days=30)
"""Retention of a new namespace: for as long as people ask who rolled out what, and why."""
LEAST_RETENTION: Final = timedelta(days=1)
"""Temporal's minimum."""


async def _ensure(client: Client, *, create: bool, retention: timedelta | None) -> str:
    """Create or update the namespace as needed, and return what was done.

    Raises Failure if the namespace does not exist and `create` is false.
    """
    kept = await _retention(client)
    if kept is None:
        return await _create(client, retention or DEFAULT_RETENTION, create=create)
    if retention is None or retention == kept:
        return f"namespace {client.namespace} exists; it keeps ended runs for {_days(kept)}"
    await client.workflow_service.update_namespace(
        UpdateNamespaceRequest(namespace=client.namespace, config=_kept_for(retention))
    )
    return (
        f"namespace {client.namespace} now keeps ended runs for {_days(retention)}; before, it was "
        f"{_days(kept)}"
    )


async def _retention(client: Client) -> timedelta | None:
    """Return how long the namespace keeps ended workflows; None if it does not exist."""
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
            advice="create it with --create-namespace, or set TEMPORAL_NAMESPACE to another one",
            exit_code=ExitCode.NOT_FOUND,
        )
    await client.workflow_service.register_namespace(
        RegisterNamespaceRequest(
            namespace=client.namespace,
            description="Update runs of fleetgate",
            workflow_execution_retention_period=_duration(retention),
        )
    )
    # Temporal's services learn of it one after the other, without a notification.
    await until(lambda: _is_known(client))
    return f"namespace {client.namespace} created; it keeps ended runs for {_days(retention)}"


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


def _duration(value: timedelta) -> duration_pb2.Duration:
    found = duration_pb2.Duration()
    found.FromTimedelta(value)
    return found


def _days(value: timedelta) -> str:
    days, rest = divmod(value, timedelta(days=1))
    if rest:
        return durations.format_duration(value)
    return "1 day" if days == 1 else f"{days} days"
