"""`fleetgate run list`."""

import asyncio
from datetime import UTC, datetime

import click

from api.kinds import NAMESPACED_SCOPE
from api.runs import UpdateRun
from planning.runs import views
from starter import output, tables
from starter.helping import examples
from starter.options import output_option, target_options
from starter.targets import Output, Target


@click.command(
    name="list",
    epilog=examples(
        "fleetgate run list",
        "fleetgate run list -n my-app-namespace",
        "fleetgate run list -o name",
    ),
)
@click.option(
    "-A", "--all-namespaces", is_flag=True, help="List the StagedUpdateRuns of all namespaces."
)
@output_option
@target_options
def list_runs(target: Target, all_namespaces: bool) -> None:
    """List update runs and what they are doing."""
    asyncio.run(_list(target, all_namespaces=all_namespaces))


async def _list(target: Target, *, all_namespaces: bool) -> None:
    kind = NAMESPACED_SCOPE.run if all_namespaces else target.scope.run
    async with await target.connect() as hub:
        found = (await hub.list(kind, namespace="" if all_namespaces else target.namespace)).items
    if target.output not in {Output.TABLE, Output.WIDE}:
        output.print_objects(kind, found, target.output, single=False)
    elif not found:
        click.echo(f"no {kind} found; create one: fleetgate run create --help", err=True)
    else:
        wide = target.output is Output.WIDE
        rows = [views.of(UpdateRun.from_wire(each)) for each in found]
        console = output.console(wide=wide)
        console.print(tables.runs(rows, datetime.now(UTC), width=console.width, wide=wide))
