"""A click group whose commands are imported when they are used, so that `--help` is quick."""

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem


class LazyGroup(click.Group):
    """Knows where each command is and its one-line help; imports it when it is called.

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
        """Names in the order in which they were given."""
        return list(self._commands_at)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command; None when there is none of the name."""
        if cmd_name not in self._commands_at:
            self._suggest(ctx, cmd_name)
            return None
        module, _, attribute = self._commands_at[cmd_name][0].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def _suggest(self, ctx: click.Context, typed: str) -> None:
        """Say which command was meant, if one is nearly called that; raises UsageError."""
        meant = get_close_matches(typed, self._commands_at, n=1)
        if meant and not ctx.resilient_parsing:
            raise click.UsageError(f"no command {typed!r}; did you mean {meant[0]!r}?", ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Complete commands from what is written down, without importing them."""
        commands = [
            CompletionItem(name, help=text)
            for name, (_, text) in self._commands_at.items()
            if name.startswith(incomplete)
        ]
        return [*commands, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from what is written down, without importing them."""
        rows = [(name, text) for name, (_, text) in self._commands_at.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
