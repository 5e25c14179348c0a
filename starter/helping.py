"""Help: examples at the end of a command's help, and `fleetgate help`."""

from collections.abc import Sequence

import click


def examples(*commands: str) -> str:
    r"""Return an epilog that shows commands as they are typed, one per line.

    The control character `\b` keeps click from rewrapping the lines.
    """
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])


@click.command(
    name="help", epilog=examples("fleetgate help", "fleetgate help run", "fleetgate help run list")
)
@click.argument("command", nargs=-1)
@click.pass_context
def help_command(context: click.Context, command: Sequence[str]) -> None:
    """Show the help of a command, as its --help does."""
    shown = context.find_root()
    for word in command:
        group = shown.command
        found = group.get_command(shown, word) if isinstance(group, click.Group) else None
        if found is None:
            raise click.UsageError(f"{shown.command_path} has no command {word!r}", shown)
        shown = click.Context(found, info_name=found.name, parent=shown)
    click.echo(shown.get_help())
