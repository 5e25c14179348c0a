"""`fleetgate run list` and `fleetgate run show`."""

import asyncio
from datetime import UTC, datetime

import click
from rich.console import Console
from rich.text import Text

from api.kinds import NAMESPACED_SCOPE
from api.runs import UpdateRun
from planning.runs import views
from planning.runs.views import RunView
from starter import output, tables, words
from starter.completion import live
from starter.helping import examples
from starter.options import output_option, target_options
from starter.targets import Output, Target

# -- fleetgate run list --------------------------------------------------------------------


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


# -- fleetgate run show --------------------------------------------------------------------


@click.command(
    epilog=examples(
        "fleetgate run show example-run",
        "fleetgate run show web-app-rollout -n my-app-namespace",
        "fleetgate run show example-run -o yaml",
    )
)
@click.argument("name", shell_complete=live.runs)
@output_option
@target_options
def show(target: Target, name: str) -> None:
    """Show a run: what it is doing, its stages and clusters, what it waits for."""
    asyncio.run(_show(target, name))


async def _show(target: Target, name: str) -> None:
    async with await target.connect() as hub:
        found = await hub.get(target.scope.run, name, namespace=target.namespace)
    if target.output in {Output.TABLE, Output.WIDE}:
        console = output.console(wide=target.output is Output.WIDE)
        print_view(console, views.of(UpdateRun.from_wire(found)), datetime.now(UTC))
    else:
        output.print_objects(target.scope.run, [found], target.output, single=True)


def print_view(console: Console, view: RunView, now: datetime) -> None:
    """Print everything about a run."""
    console.print(_head(view))
    console.print(_sentence(view, now), tables.bar(view), sep="\n")
    if view.stages:
        console.print()
        console.print(tables.clusters(view, now, width=console.width))
    if view.conditions:
        console.print()
        console.print(tables.conditions(view, now, width=console.width))
    if advice := tables.advice(view):
        console.print("\nNext:", *(f"  {line}" for line in advice), sep="\n", markup=False)


def _head(view: RunView) -> Text:
    snapshot = view.snapshot or "(content as it is when the run is planned)"
    name = f"{view.namespace}/{view.name}" if view.namespace else view.name
    return Text.assemble(
        (name, "bold"),
        f"\nplacement {view.placement}, strategy {view.strategy}, snapshot {snapshot}, "
        f"state {view.state}",
        f"\nrolls back run {view.rolls_back}" if view.rolls_back else "",
    )


def _sentence(view: RunView, now: datetime) -> Text:
    return Text(words.sentence(view, now), style=output.STYLES.get(view.phase, ""))
