"""`fleetgate snapshot show`."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

import click
from rich.console import Console
from rich.text import Text

from hub import Json
from planning.placements.selecting import SelectionRules
from planning.resource_order import identify
from starter import columns, output, records, words
from starter.completion import live
from starter.differences import hidden
from starter.helping import examples
from starter.options import output_option, rules_options, target_options
from starter.records import Content, Record, content
from starter.targets import Output, Target
from starter.versions import Version

NAMED_AT_MOST = 8
"""Clusters that are named in a line."""


@click.command(
    epilog=examples(
        "fleetgate snapshot show example-placement 1",
        "fleetgate snapshot show example-placement latest -o yaml",
        "fleetgate snapshot show web-app now -n my-app-namespace",
    )
)
@click.argument("placement", shell_complete=live.placements)
@click.argument("index", default="latest", shell_complete=live.versions)
@output_option
@rules_options
@target_options
def show(target: Target, rules: SelectionRules, placement: str, index: str) -> None:
    """Show what a snapshot of a placement's content contains, and which clusters have it.

    INDEX is the index of a snapshot, `latest`, or `now` for the hub's content as it is. -o yaml and
    -o json print the objects themselves, without the values of Secrets.
    """
    asyncio.run(_show(target, rules, placement, index))


async def _show(target: Target, rules: SelectionRules, placement: str, index: str) -> None:
    async with await target.connect() as hub:
        known = await records.read(hub, target, placement)
        found = await content(hub, target, known, index, rules=rules)
    if target.output is Output.NAME:
        for each in found.resources:
            click.echo(_name(each))
    elif target.output in {Output.JSON, Output.YAML}:
        shown = [hidden(each) for each in found.resources]
        output.print_objects(target.scope.resource_snapshot, shown, target.output, single=False)
    else:
        _print(output.console(wide=target.output is Output.WIDE), known, found)


def _name(resource: Json) -> str:
    """Return kubectl's name for an object: `deployment.apps/web`."""
    found = identify(resource)
    group = f".{found.group}" if found.group else ""
    return f"{found.kind.lower()}{group}/{found.name}"


def _print(console: Console, known: Record, found: Content) -> None:
    console.print(Text(f"placement {known.placement}, {found.title}", style="bold"))
    for line in _about(known, found.version):
        console.print(line, markup=False)
    rows = [_row(each) for each in found.resources]
    console.print()
    if rows:
        console.print(columns.table(["KIND", "NAMESPACE", "NAME"], rows, width=console.width))
    else:
        console.print("it is empty")


def _about(known: Record, version: Version | None) -> Iterator[str]:
    """Yield how old a snapshot is, which clusters have it, and which runs rolled it out."""
    if version is None:
        return
    age = words.age(datetime.now(UTC) - version.created) if version.created else "some time"
    yield f"taken {age} ago{', the latest' if version.latest else ''}"
    clusters = known.versions.clusters(version.index)
    bound = words.count(len(known.versions.has_now), "bound cluster")
    names = f": {words.named(clusters, at_most=NAMED_AT_MOST)}" if clusters else ""
    yield f"{len(clusters)} of {bound} have it{names}"
    users = known.users(version.index)
    yield f"rolled out by {words.named(users)}" if users else "no run has rolled it out"


def _row(resource: Json) -> list[str]:
    found = identify(resource)
    kind = f"{found.kind}.{found.group}" if found.group else found.kind
    return [kind, found.namespace, found.name]
