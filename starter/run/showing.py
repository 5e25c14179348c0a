"""`fleetgate run list` and `fleetgate run show`."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

import click
from rich.console import Console
from rich.text import Text

from api.runs import UpdateRun
from hub import Json
from planning.runs import views
from planning.runs.views import RunView
from starter import listing, output, tables, words
from starter.completion import live
from starter.helping import examples
from starter.options import Listing, list_options, output_option, target_options
from starter.targets import Output, Target

# -- fleetgate run list --------------------------------------------------------------------


@click.command(
    name="list",
    epilog=examples(
        "fleetgate run list",
        "fleetgate run list -n my-app-namespace",
        "fleetgate run list -A --watch",
        "fleetgate run list -l team=web -o custom-columns=NAME:.metadata.name,STATE:.spec.state",
    ),
)
@listing.all_namespaces_option
@list_options
@output_option
@target_options
def list_runs(target: Target, listed: Listing, all_namespaces: bool) -> None:
    """List update runs and what they are doing.

    Lists cluster-scoped runs, and those of the context's namespace if it sets one; with -n, only
    those of one namespace.
    """
    wanted = listing.sources(target, lambda scope: scope.run, all_namespaces=all_namespaces)
    empty = f"no {listing.kinds(wanted)} found; create one: fleetgate run create --help"
    layout = partial(_layout, wide=target.output is Output.WIDE)
    asyncio.run(listing.show(target, wanted, listed, layout=layout, empty=empty))


def _layout(found: Sequence[Json], console: Console, headed: bool, *, wide: bool) -> Text:
    rows = [views.of(UpdateRun.from_wire(each)) for each in found]
    now, room = datetime.now(UTC), output.room(console)
    return tables.runs(rows, now, room=room, wide=wide, headed=headed)


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
    if target.output.is_table:
        console = output.console(wide=target.output is Output.WIDE)
        print_view(console, views.of(UpdateRun.from_wire(found)), datetime.now(UTC))
    else:
        output.print_objects([found], target, single=True)


def print_view(console: Console, view: RunView, now: datetime) -> None:
    """Print everything about a run."""
    console.print(_head(view))
    console.print(_sentence(view, now), tables.bar(view), sep="\n")
    if view.stages:
        console.print()
        output.print_table(console, tables.clusters(view, now, room=output.room(console)))
    if view.conditions:
        console.print()
        output.print_table(console, tables.conditions(view, now, room=output.room(console)))
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
