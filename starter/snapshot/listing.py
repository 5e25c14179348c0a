"""`fleetgate snapshot list`."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime

import click

from api import names
from hub import Hub, Json
from starter import columns, differences, output, records, words
from starter.completion import live
from starter.differences import hidden
from starter.helping import examples
from starter.options import output_option, target_options
from starter.records import Record
from starter.targets import Output, Target
from starter.versions import Version


@click.command(
    name="list",
    epilog=examples(
        "fleetgate snapshot list example-placement",
        "fleetgate snapshot list web-app -n my-app-namespace -o wide",
    ),
)
@click.argument("placement", shell_complete=live.placements)
@output_option
@target_options
def list_snapshots(target: Target, placement: str) -> None:
    """List the snapshots of a placement's content.

    CHANGED counts the objects that were added (+), removed (-) and changed (~) since the previous
    snapshot. CLUSTERS counts the clusters that have the snapshot, out of all bound ones.
    """
    asyncio.run(_list(target, placement))


async def _list(target: Target, placement: str) -> None:
    async with await target.connect() as hub:
        if target.output not in {Output.TABLE, Output.WIDE}:
            await _print_stored(hub, target, placement)
            return
        found = await records.read(hub, target, placement)
    if not found.versions.stored:
        click.echo(f"placement {placement} has no snapshots yet; a run creates the first", err=True)
        return
    wide = target.output is Output.WIDE
    console = output.console(wide=wide)
    headings = ["INDEX", "AGE", "LATEST", "RESOURCES", "CHANGED", "CLUSTERS", "RUNS"]
    rows = list(_rows(found, datetime.now(UTC), wide=wide))
    console.print(columns.table(headings, rows, width=console.width))


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


async def _print_stored(hub: Hub, target: Target, placement: str) -> None:
    """Print a placement's snapshot objects in the format of `-o json|yaml|name`."""
    kind, namespace = target.scope.resource_snapshot, target.namespace
    # Read the placement first: if it does not exist that is an error, unlike an empty list.
    await hub.get(target.scope.placement, placement, namespace=namespace)
    labels = f"{names.PARENT_PLACEMENT}={placement}"
    found = await hub.list(kind, namespace=namespace, labels=labels)
    shown = [_without_secrets(each) for each in found.items]
    output.print_objects(kind, shown, target.output, single=False)


def _without_secrets(snapshot: Json) -> Json:
    spec = snapshot["spec"]
    resources = [hidden(each) for each in spec["selectedResources"]]
    return snapshot | {"spec": spec | {"selectedResources": resources}}
