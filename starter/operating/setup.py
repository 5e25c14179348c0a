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
        click.echo(await namespaces.ensure(client, create=create_namespace, retention=retention))
        click.echo(await search_attributes.register(client))

    ask(
        work,
        wish="change namespace or search attributes",
        advice="ask Temporal's administrators to set namespace and retention, and to run the "
        "commands that `fleetgate search-attributes --print` shows",
        within=WITHIN,
    )


def _long_enough(value: timedelta | None) -> timedelta | None:
    if value is not None and value < namespaces.LEAST_RETENTION:
        raise click.BadParameter("Temporal keeps runs for at least 24h")
    return value
