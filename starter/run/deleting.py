"""`fleetgate run delete`."""

import asyncio

import click

from starter import output
from starter.helping import examples
from starter.targets import Target, target_options


@click.command(
    epilog=examples(
        "fleetgate run delete example-run example-run-2",
        "fleetgate run delete web-app-rollout -n my-app-namespace",
    )
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@target_options
def delete(target: Target, names: tuple[str, ...]) -> None:
    """Delete runs and their approval requests.

    Nothing is rolled back: clusters keep what they have, those not yet updated stay as they are.
    """
    asyncio.run(_delete(target, names))


async def _delete(target: Target, names: tuple[str, ...]) -> None:
    kind = target.scope.run
    async with await target.connect() as hub:
        for name in names:
            await hub.delete(kind, name, namespace=target.namespace)
            click.echo(f"{output.resource_name(kind, name)} deleted")
