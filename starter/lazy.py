"""A click group that imports its commands only when they are used, so that `--help` is fast."""

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """A group that knows the module and one-line help of each command, and imports it on use.

    `commands_at` maps a name to (`module:attribute`, one-line help).
    """

    def __init__(
        self,
        name: str | None = None,
        *,
        commands_at: Mapping[str, tuple[str, str]],
        **attributes: Any,  # noqa: ANN401 - whatever click.Group takes
    ) -> None:
        super().__init__(name, **attributes)
        self._commands_at = commands_at

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which they were given."""
        return list(self._commands_at)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command; return None if there is no command with this name."""
        if cmd_name not in self._commands_at:
            self._suggest(ctx, cmd_name)
            return None
        module, _, attribute = self._commands_at[cmd_name][0].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def _suggest(self, ctx: click.Context, typed: str) -> None:
        """Raise UsageError with a suggestion if a command has a similar name."""
        meant = get_close_matches(typed, self._commands_at, n=1)
        if meant and not ctx.resilient_parsing:
            raise click.UsageError(f"unknown command {typed!r}; did you mean {meant[0]!r}?", ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Complete commands from the known names, without importing them."""
        commands = [
            CompletionItem(name, help=text)
            for name, (_, text) in self._commands_at.items()
            if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their known help, without importing them."""
        rows = [(name, text) for name, (_, text) in self._commands_at.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
