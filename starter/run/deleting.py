"""`fleetgate run delete`."""

import asyncio
from datetime import UTC, datetime

import click

from api.runs import UpdateRun
from planning.runs import lifecycle, views
from starter import output, words
from starter.completion import live
from starter.helping import examples
from starter.options import confirm, target_options, yes_option
from starter.patience import Patience, wait_options
from starter.run.reading import read
from starter.run.waiting import Waiting
from starter.targets import Target


@click.command(
    epilog=examples(
        "fleetgate run delete example-run example-run-2",
        "fleetgate run delete web-app-rollout -n my-app-namespace --yes",
    )
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=live.runs)
@yes_option
@wait_options
@target_options
def delete(target: Target, patience: Patience, names: tuple[str, ...], yes: bool) -> None:
    """Delete runs and their approval requests, and wait until they are gone.

    Nothing is rolled back: updated clusters keep what they have, and the others stay as they are.
    Asks for confirmation if a run is active.
    """
    asyncio.run(_delete(target, patience, list(dict.fromkeys(names)), yes=yes))


async def _delete(target: Target, patience: Patience, names: list[str], *, yes: bool) -> None:
    kind, namespace = target.scope.run, target.namespace
    async with await target.connect() as hub:
        # Read all of them first, so that nothing is deleted if one name is wrong.
        runs = [await read(hub, target, name) for name in names]
        _ask([run for run in runs if lifecycle.is_active(run)], yes=yes)
        for run in runs:
            name = run.metadata.name
            await hub.delete(kind, name, namespace=namespace, uid=run.metadata.uid)
        for run in runs:
            if patience.wait:
                await Waiting(hub, target, patience.timeout).until_gone(run)
            click.echo(f"{output.resource_name(kind, run.metadata.name)} deleted")


def _ask(active: list[UpdateRun], *, yes: bool) -> None:
    for run in active:
        where = words.sentence(views.of(run), datetime.now(UTC))
        click.echo(f"run {run.metadata.name} is active: {where}", err=True)
    if active:
        confirm(f"Delete {'it' if len(active) == 1 else 'them'} anyway?", yes=yes)
