"""Showing a run again and again: redrawn on a terminal, line by line elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Protocol

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from starter import output, tables, words
from starter.views import RunView

REDRAWN_PER_SECOND = 4
"""Often enough for ages in seconds to look alive."""


class Screen(Protocol):
    """Shows a run each time it changed."""

    def show(self, view: RunView) -> None:
        """Show it as it is now."""


@contextmanager
def screen(console: Console) -> Iterator[Screen]:
    """The way of showing that fits where the output goes."""
    if not console.is_terminal:
        yield Lines()
        return
    table = LiveTable(width=console.width)
    with Live(
        console=console,
        get_renderable=table.render,
        refresh_per_second=REDRAWN_PER_SECOND,
        vertical_overflow="visible",
    ):
        yield table


class Lines:
    """One line for each change, with the time of day."""

    def __init__(self) -> None:
        self._shown: RunView | None = None

    def show(self, view: RunView) -> None:
        """Print what is different from the last look."""
        now = datetime.now(UTC)
        for line in tables.plain_changes(self._shown, view, now):
            click.echo(f"{now.astimezone():%H:%M:%S} {line}")
        self._shown = view


class LiveTable:
    """A table that is redrawn as time goes by; ages move without anything having changed."""

    def __init__(self, *, width: int) -> None:
        self._width = width
        self._view: RunView | None = None

    def show(self, view: RunView) -> None:
        """Draw this from now on."""
        self._view = view

    def render(self) -> RenderableType:
        """Draw the run as of now."""
        view = self._view
        if view is None:
            return Text("")
        now = datetime.now(UTC)
        style = output.STYLES.get(view.phase, "")
        parts: list[RenderableType] = [
            Text.assemble((view.name, "bold"), f"  placement {view.placement}"),
            tables.bar(view),
            Text(words.sentence(view, now), style=style),
            tables.clusters(view, now, width=self._width),
            *(Text(f"  {line}") for line in tables.advice(view)),
        ]
        return Group(*parts)
