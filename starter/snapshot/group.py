"""The group `fleetgate snapshot`."""

import click

from starter.lazy import LazyGroup

COMMANDS = {
    "list": (
        "starter.snapshot.listing:list_snapshots",
        "List the snapshots of a placement's content.",
    ),
    "show": ("starter.snapshot.showing:show", "Show what a snapshot contains, and where it is."),
    "diff": ("starter.snapshot.diffing:diff", "Show what changed between two snapshots."),
}


@click.group(name="snapshot", cls=LazyGroup, commands_at=COMMANDS)
def snapshot() -> None:
    """List, show and compare the snapshots of a placement's content, which runs roll out.

    Without -n, commands work on a ClusterResourcePlacement, with -n on a ResourcePlacement of that
    namespace.
    """
