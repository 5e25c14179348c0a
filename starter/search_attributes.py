"""`fleetgate search-attributes`."""

from collections.abc import Mapping
from typing import Final

import click
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
)
from temporalio.client import Client

from starter import temporal
from starter.failures import Failure
from starter.helping import examples
from starter.operating.asking import ask
from workflows import plugin, search_attributes

_ADVICE: Final = (
    "ask whoever runs Temporal to type what `fleetgate search-attributes --print` shows"
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
    begin afterwards have them; no worker has to be restarted. `fleetgate temporal setup` does
    this too.
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
    """Register those that are missing, and say which.

    Raises Failure if one is registered as something else, RPCError as Temporal has it.
    """
    service, namespace = client.operator_service, client.namespace
    listed = await service.list_search_attributes(ListSearchAttributesRequest(namespace=namespace))
    _check(listed.custom_attributes, namespace)
    missing = search_attributes.missing(listed.custom_attributes)
    if not missing:
        return f"all search attributes are registered in namespace {namespace}"
    await service.add_search_attributes(
        AddSearchAttributesRequest(
            namespace=namespace, search_attributes=dict.fromkeys(missing, search_attributes.KEYWORD)
        )
    )
    return f"registered in namespace {namespace}: {', '.join(missing)}"


def _check(registered: Mapping[str, "IndexedValueType.ValueType"], namespace: str) -> None:
    """Raises Failure if one is registered as something else than Keyword."""
    for name in search_attributes.wrong(registered):
        raise Failure(
            f"search attribute {name} is registered in namespace {namespace} as "
            f"{_type_name(registered[name])}, but has to be a Keyword",
            advice="remove it with `temporal operator search-attribute remove "
            f"--namespace {namespace} --name {name}`, then try again",
        )


def _type_name(kind: "IndexedValueType.ValueType") -> str:
    name: str = IndexedValueType.Name(kind)
    return name.removeprefix("INDEXED_VALUE_TYPE_").title()
