"""`fleetgate temporal setup` and `fleetgate search-attributes`: set up Temporal for runs."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import click
from google.protobuf import duration_pb2
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.namespace.v1 import NamespaceConfig
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
)
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    RegisterNamespaceRequest,
    UpdateNamespaceRequest,
)
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from planning import durations
from starter import temporal
from starter.failures import CommandFailure, ExitCode
from starter.helping import examples
from starter.operating.asking import ask, until
from starter.patience import Duration
from workflows import plugin, search_attributes

# -- fleetgate temporal setup --------------------------------------------------------------


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
        click.echo(await register(client))

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

    Raises CommandFailure if the namespace does not exist and `create` is false.
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
        raise CommandFailure(
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


# -- fleetgate search-attributes -----------------------------------------------------------


_ADVICE: Final = (
    "ask Temporal's administrators to run what `fleetgate search-attributes --print` shows"
)


@click.command(
    name="search-attributes",
    epilog=examples(
        "fleetgate search-attributes",
        "TEMPORAL_NAMESPACE=rollouts fleetgate search-attributes --print",
    ),
)
@click.option(
    "--print", "only_print", is_flag=True, help="Print the equivalent `temporal` commands."
)
def search_attributes_command(only_print: bool) -> None:
    """Register the search attributes of runs in Temporal.

    They are the placement, strategy, scope, namespace, state and stage of each run. Without them
    runs work, but cannot be searched for in the Temporal UI. The connection is configured with
    Temporal's own settings: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_PROFILE and so on. Runs
    that start afterwards have the attributes; no worker needs a restart. `fleetgate temporal setup`
    does this too.
    """
    if only_print:
        with temporal.wrong_settings_explained():
            namespace = plugin.connection()["namespace"]
        for key in search_attributes.ALL:
            click.echo(_equivalent(key.name, namespace))
    else:
        click.echo(ask(register, wish="register search attributes", advice=_ADVICE))


def _equivalent(name: str, namespace: str) -> str:
    return (
        "temporal operator search-attribute create "
        f"--namespace {namespace} --name {name} --type Keyword"
    )


async def register(client: Client) -> str:
    """Register the missing search attributes, and return which.

    Raises CommandFailure if one is registered with another type, and RPCError from Temporal.
    """
    service, namespace = client.operator_service, client.namespace
    listed = await service.list_search_attributes(ListSearchAttributesRequest(namespace=namespace))
    _check_types(listed.custom_attributes, namespace)
    missing = search_attributes.missing(listed.custom_attributes)
    if not missing:
        return f"all search attributes are registered in namespace {namespace}"
    await service.add_search_attributes(
        AddSearchAttributesRequest(
            namespace=namespace, search_attributes=dict.fromkeys(missing, search_attributes.KEYWORD)
        )
    )
    return f"registered in namespace {namespace}: {', '.join(missing)}"


def _check_types(registered: Mapping[str, "IndexedValueType.ValueType"], namespace: str) -> None:
    """Raise CommandFailure if one is registered with a type other than Keyword."""
    for name in search_attributes.wrong(registered):
        raise CommandFailure(
            f"search attribute {name} is registered in namespace {namespace} as "
            f"{_type_name(registered[name])}, but must be Keyword",
            advice="remove it with `temporal operator search-attribute remove "
            f"--namespace {namespace} --name {name}`, then try again",
        )


def _type_name(kind: "IndexedValueType.ValueType") -> str:
    name: str = IndexedValueType.Name(kind)
    return name.removeprefix("INDEXED_VALUE_TYPE_").title()
