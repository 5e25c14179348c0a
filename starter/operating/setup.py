"""`fleetgate temporal setup`."""

from datetime import timedelta
from typing import Final

import click
from temporalio.client import Client

from starter import search_attributes
from starter.helping import examples
from starter.operating import namespaces
from starter.operating.asking import ask
from starter.patience import Duration

WITHIN: Final = timedelta(seconds=60)
"""A namespace that is made takes some ten seconds until all of Temporal knows it."""


@click.command(
    epilog=examples(
        "fleetgate temporal setup",
        "TEMPORAL_NAMESPACE=rollouts fleetgate temporal setup --create-namespace --retention 720h",
    )
)
@click.option(
    "--create-namespace", is_flag=True, help="Make the namespace if Temporal does not have it."
)
@click.option(
    "--retention",
    type=Duration(),
    metavar="DURATION",
    callback=lambda _, __, value: _long_enough(value),
    help="How long Temporal keeps runs that have ended, such as 720h  [default: as it is, or 720h "
    "for a new namespace].",
)
def setup(create_namespace: bool, retention: timedelta | None) -> None:
    """See to what runs need in Temporal: namespace, retention, search attributes.

    What is as it should be stays untouched, so it can be typed again, or run by a Job before each
    upgrade. It says what it did.
    """

    async def work(client: Client) -> None:
        click.echo(await namespaces.ensure(client, create=create_namespace, retention=retention))
        click.echo(await search_attributes.register(client))

    ask(
        work,
        wish="change namespace or search attributes",
        advice="ask whoever runs Temporal for namespace and retention, and to type what "
        "`fleetgate search-attributes --print` shows",
        within=WITHIN,
    )


def _long_enough(value: timedelta | None) -> timedelta | None:
    if value is not None and value < namespaces.LEAST_RETENTION:
        raise click.BadParameter("Temporal keeps runs for at least 24h")
    return value
