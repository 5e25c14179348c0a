"""`fleetgate snapshot diff`."""

import asyncio
from collections import Counter

import click

from planning.placements.selecting import SelectionRules
from starter import differences, records, words
from starter.completion import live
from starter.failures import CommandFailure
from starter.helping import examples
from starter.options import rules_options, target_options
from starter.records import NOW, ComparedContent, Record, content
from starter.targets import Target

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(
    epilog=examples(
        "fleetgate snapshot diff example-placement",
        "fleetgate snapshot diff example-placement 0 2",
        "fleetgate snapshot diff web-app latest now -n my-app-namespace",
    )
)
@click.argument("placement", shell_complete=live.placements)
@click.argument("old", default="", shell_complete=live.versions)
@click.argument("new", default="latest", shell_complete=live.versions)
@rules_options
@target_options
def diff(target: Target, rules: SelectionRules, placement: str, old: str, new: str) -> None:
    """Show what changed between two snapshots of a placement's content.

    OLD and NEW are indexes of snapshots, `latest`, or `now` for the hub's content as it is. By
    default, the snapshot that most clusters have is compared with the latest. For Secrets, only the
    names of changed values are shown.
    """
    asyncio.run(_diff(target, rules, placement, old, new))


async def _diff(target: Target, rules: SelectionRules, placement: str, old: str, new: str) -> None:
    async with await target.connect() as hub:
        known = await records.read(hub, target, placement)
        before = await content(hub, target, known, old or _most_common(known), rules=rules)
        after = await content(hub, target, known, new, rules=rules)
    click.secho(f"from {_described(known, before)} to {_described(known, after)}", bold=True)
    labels = (before.title, after.title)
    lines = differences.between(before.resources, after.resources, labels=labels)
    for line in lines or ["no difference"]:
        click.secho(line, fg=_COLOURS.get(line[:1]))


def _most_common(known: Record) -> str:
    """Return the index of the snapshot that most clusters have; with a tie, the newer one."""
    had = Counter(index for index in known.versions.has_now.values() if index)
    if not had:
        raise CommandFailure(
            f"no cluster has a snapshot of placement {known.placement} yet",
            advice=f"specify OLD and NEW; available: {', '.join([*known.versions.stored, NOW])}",
        )
    return max(had, key=lambda index: (had[index], int(index)))


def _described(known: Record, found: ComparedContent) -> str:
    if found.version is None:
        return "the hub's content now"
    clusters = len(known.versions.clusters(found.version.index))
    of = words.count(len(known.versions.has_now), "cluster")
    latest = "latest, " if found.version.latest else ""
    return f"{found.title} ({latest}on {clusters} of {of})"
