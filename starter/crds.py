"""`fleetgate crds`."""

import asyncio

import click
import yaml

from deploy.local import crds as definitions
from starter.helping import examples
from starter.options import target_options
from starter.targets import Target


@click.command(
    epilog=examples(
        "fleetgate crds > crds.yaml",
        "fleetgate crds --apply --kubeconfig hub.kubeconfig",
    )
)
@click.option(
    "--apply",
    "install",
    is_flag=True,
    help="Install them on the hub and wait until they are served.",
)
@target_options
def crds(target: Target, install: bool) -> None:
    """Print the custom resource definitions (CRDs), or install them on the hub."""
    if install:
        asyncio.run(_install(target))
    else:
        click.echo(yaml.safe_dump_all(definitions.definitions(), sort_keys=False), nl=False)


async def _install(target: Target) -> None:
    async with await target.connect() as hub:
        bodies = definitions.definitions()
        await definitions.install(hub, bodies)
        click.echo(f"{len(bodies)} CRDs are served by {hub.url}")
