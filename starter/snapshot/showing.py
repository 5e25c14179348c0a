"""`fleetgate snapshot list` and `fleetgate snapshot show`."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

import click
from rich.console import Console
from rich.text import Text

from api import names
from hub import Hub, Json
from planning.placements.selecting import SelectionRules
from planning.resource_order import identify
from starter import columns, differences, output, records, words
from starter.completion import live
from starter.differences import hidden
from starter.helping import examples
from starter.options import (
    no_headers_option,
    output_option,
    rules_options,
    target_options,
)
from starter.records import ComparedContent, Record, Version, content
from starter.targets import Output, Target

# -- fleetgate snapshot list ---------------------------------------------------------------


@click.command(
    name="list",
    epilog=examples(
        "fleetgate snapshot list example-placement",
        "fleetgate snapshot list web-app -n my-app-namespace -o wide",
    ),
)
@click.argument("placement", shell_complete=live.placements)
@no_headers_option
@output_option
@target_options
def list_snapshots(target: Target, placement: str, no_headers: bool) -> None:
    """List the snapshots of a placement's content.

    CHANGED counts the objects that were added (+), removed (-) and changed (~) since the previous
    snapshot. CLUSTERS counts the clusters that have the snapshot, out of all bound ones.
    """
    asyncio.run(_list(target, placement, headed=not no_headers))


async def _list(target: Target, placement: str, *, headed: bool) -> None:
    async with await target.connect() as hub:
        if not target.output.is_table:
            await _print_stored(hub, target, placement, headed=headed)
            return
        found = await records.read(hub, target, placement)
    if not found.versions.stored:
        click.echo(f"placement {placement} has no snapshots yet; a run creates the first", err=True)
        return
    wide = target.output is Output.WIDE
    console = output.console(wide=wide)
    headings = ["INDEX", "AGE", "LATEST", "RESOURCES", "CHANGED", "CLUSTERS", "RUNS"]
    rows = list(_rows(found, datetime.now(UTC), wide=wide))
    room = output.room(console)
    output.print_table(console, columns.table(headings, rows, room=room, headed=headed))


def _rows(found: Record, now: datetime, *, wide: bool) -> Iterator[list[str]]:
    before: Version | None = None
    for each in found.versions.stored.values():
        users = found.users(each.index)
        yield [
            each.index,
            words.age(now - each.created) if each.created else "",
            "yes" if each.latest else "",
            _resources(each),
            _changed(before, each),
            _clusters(found, each, wide=wide),
            ", ".join(users) if wide else words.named(users),
        ]
        before = each


def _resources(version: Version) -> str:
    missing = f" ({words.count(version.missing, 'part')} missing)" if version.missing else ""
    return f"{len(version.resources)}{missing}"


def _changed(before: Version | None, version: Version) -> str:
    """Return the counts of changes, such as `+1 -2 ~3`; empty if there is nothing to compare."""
    if before is None or before.missing or version.missing:
        return ""
    lines = differences.summary(before.resources, version.resources)
    counts = ((sign, sum(line.startswith(sign) for line in lines)) for sign in "+-~")
    return " ".join(f"{sign}{number}" for sign, number in counts if number) or "0"


def _clusters(found: Record, version: Version, *, wide: bool) -> str:
    clusters = found.versions.clusters(version.index)
    names = f" ({', '.join(clusters)})" if wide and clusters else ""
    return f"{len(clusters)}/{len(found.versions.has_now)}{names}"


# -- as objects, for programs --------------------------------------------------------------


async def _print_stored(hub: Hub, target: Target, placement: str, *, headed: bool) -> None:
    """Print a placement's snapshot objects in the format of `-o json|yaml|name`."""
    kind, namespace = target.scope.resource_snapshot, target.namespace
    # Read the placement first: if it does not exist that is an error, unlike an empty list.
    await hub.get(target.scope.placement, placement, namespace=namespace)
    labels = f"{names.PARENT_PLACEMENT}={placement}"
    found = await hub.list(kind, namespace=namespace, labels=labels)
    shown = [_without_secrets(each) for each in found.items]
    output.print_objects(shown, target, single=False, headed=headed)


def _without_secrets(snapshot: Json) -> Json:
    spec = snapshot["spec"]
    resources = [hidden(each) for each in spec["selectedResources"]]
    return snapshot | {"spec": spec | {"selectedResources": resources}}


# -- fleetgate snapshot show ---------------------------------------------------------------


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
    if not target.output.is_table:
        shown = [hidden(each) for each in found.resources]
        output.print_objects(shown, target, single=False)
    else:
        _print(output.console(wide=target.output is Output.WIDE), known, found)


def _print(console: Console, known: Record, found: ComparedContent) -> None:
    console.print(Text(f"placement {known.placement}, {found.title}", style="bold"))
    for line in _about(known, found.version):
        console.print(line, markup=False)
    rows = [_row(each) for each in found.resources]
    console.print()
    if rows:
        room = output.room(console)
        output.print_table(console, columns.table(["KIND", "NAMESPACE", "NAME"], rows, room=room))
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
