"""The group `fleetgate snapshot`."""

import click

from starter.lazy import LazyGroup

COMMANDS = {
    "list": ("starter.snapshot.listing:list_snapshots", "All versions of a placement's content."),
    "show": ("starter.snapshot.showing:show", "What one version holds, and where it is."),
    "diff": ("starter.snapshot.diffing:diff", "What changed between two versions."),
}


@click.group(name="snapshot", cls=LazyGroup, commands_at=COMMANDS)
def snapshot() -> None:
    """Stored versions of a placement's content, which runs roll out.

    Without -n a command is about a ClusterResourcePlacement, with -n about the ResourcePlacement
    of that namespace.
    """
