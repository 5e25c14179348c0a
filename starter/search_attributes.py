"""`fleetgate search-attributes`."""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import click
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
)
from temporalio.client import Client
from temporalio.envconfig import ClientConnectConfig
from temporalio.service import RPCError, RPCStatusCode

from starter.failures import ExitCode, Failure
from starter.helping import examples
from workflows import plugin, search_attributes

ANSWER_WITHIN: Final = timedelta(seconds=10)
"""A person is waiting; a Temporal that takes longer is out of reach."""
KEYWORD: Final = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
_NOT_ALLOWED: Final = (
    RPCStatusCode.PERMISSION_DENIED,
    RPCStatusCode.UNAUTHENTICATED,
    RPCStatusCode.UNIMPLEMENTED,  # as where the operator's requests are served elsewhere
)


@click.command(
    name="search-attributes",
    epilog=examples(
        "fleetgate search-attributes",
        "TEMPORAL_NAMESPACE=rollouts fleetgate search-attributes --print",
    ),
)
@click.option("--print", "only_print", is_flag=True, help="Show the commands that would do it.")
def search_attributes_command(only_print: bool) -> None:
    """Register with Temporal what its UI finds runs by.

    These are placement, strategy, scope, namespace, state and stage of each run. Where they are
    not registered, runs work as well but cannot be searched by them. Temporal is found by its
    own settings: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_PROFILE and so on. Runs that
    begin afterwards have them; no worker has to be restarted.
    """
    if only_print:
        for key in search_attributes.ALL:
            click.echo(_equivalent(key.name, _settings()["namespace"]))
    else:
        click.echo(asyncio.run(_register()))


def _equivalent(name: str, namespace: str) -> str:
    return (
        "temporal operator search-attribute create "
        f"--namespace {namespace} --name {name} --type Keyword"
    )


def _settings() -> ClientConnectConfig:
    try:
        return plugin.connection()
    except RuntimeError as error:
        raise Failure(
            f"Temporal's settings are wrong: {error}",
            advice="see TEMPORAL_PROFILE and TEMPORAL_CONFIG_FILE",
            exit_code=ExitCode.USAGE,
        ) from error


async def _register() -> str:
    address = _settings()["target_host"]
    try:
        async with asyncio.timeout(ANSWER_WITHIN.total_seconds()):
            return await _add_missing(await plugin.connect())
    except (TimeoutError, RuntimeError, OSError) as error:
        raise Failure(
            f"Temporal cannot be reached at {address}",
            advice="name another one with TEMPORAL_ADDRESS, as host:port",
        ) from error
    except RPCError as error:
        raise _explained(error) from error


async def _add_missing(client: Client) -> str:
    service, namespace = client.operator_service, client.namespace
    listed = await service.list_search_attributes(ListSearchAttributesRequest(namespace=namespace))
    missing = _missing(listed.custom_attributes, namespace)
    if not missing:
        return f"all search attributes are registered in namespace {namespace}"
    await service.add_search_attributes(
        AddSearchAttributesRequest(
            namespace=namespace, search_attributes=dict.fromkeys(missing, KEYWORD)
        )
    )
    return f"registered in namespace {namespace}: {', '.join(missing)}"


def _missing(registered: Mapping[str, "IndexedValueType.ValueType"], namespace: str) -> list[str]:
    """Names that are not registered. Raises Failure if one is, as something else."""
    for key in search_attributes.ALL:
        kind = registered.get(key.name, KEYWORD)
        if kind != KEYWORD:
            raise Failure(
                f"search attribute {key.name} is registered in namespace {namespace} as "
                f"{_type_name(kind)}, but has to be a Keyword",
                advice="remove it with `temporal operator search-attribute remove "
                f"--namespace {namespace} --name {key.name}`, then try again",
            )
    return [key.name for key in search_attributes.ALL if key.name not in registered]


def _type_name(kind: "IndexedValueType.ValueType") -> str:
    name: str = IndexedValueType.Name(kind)
    return name.removeprefix("INDEXED_VALUE_TYPE_").title()


def _explained(error: RPCError) -> Failure:
    if error.status in _NOT_ALLOWED:
        return Failure(
            f"Temporal does not let you register search attributes: {error.message}",
            advice="ask whoever runs Temporal to type what "
            "`fleetgate search-attributes --print` shows",
        )
    if error.status is RPCStatusCode.NOT_FOUND:
        return Failure(
            f"Temporal says: {error.message}",
            advice="name a namespace that it has with TEMPORAL_NAMESPACE",
            exit_code=ExitCode.NOT_FOUND,
        )
    return Failure(f"Temporal says: {error.message}")
