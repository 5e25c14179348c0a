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

    Raises Failure if one is registered with another type, and RPCError from Temporal.
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
    """Raise Failure if one is registered with a type other than Keyword."""
    for name in search_attributes.wrong(registered):
        raise Failure(
            f"search attribute {name} is registered in namespace {namespace} as "
            f"{_type_name(registered[name])}, but must be Keyword",
            advice="remove it with `temporal operator search-attribute remove "
            f"--namespace {namespace} --name {name}`, then try again",
        )


def _type_name(kind: "IndexedValueType.ValueType") -> str:
    name: str = IndexedValueType.Name(kind)
    return name.removeprefix("INDEXED_VALUE_TYPE_").title()
