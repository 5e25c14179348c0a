"""Showing a run again and again: redrawn on a terminal, line by line elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Protocol

import click
from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from starter import tables, words
from starter.run.board import Sighting, Trouble, board
from starter.views import RunView

REDRAWN_PER_SECOND = 4
"""Often enough for ages in seconds to look alive."""


class Screen(Protocol):
    """Shows a run each time it changed."""

    def show(self, seen: Sighting) -> None:
        """Show it as it is now."""

    def trouble(self, why: str) -> None:
        """Say why nothing more is seen of it; an empty text, that it is seen again."""


@contextmanager
def screen(console: Console) -> Iterator[Screen]:
    """The way of showing that fits where the output goes."""
    if not console.is_terminal:
        yield Lines()
        return
    table = LiveBoard(console)
    with Live(
        console=console,
        get_renderable=table.render,
        refresh_per_second=REDRAWN_PER_SECOND,
        vertical_overflow="crop",
    ):
        yield table


class Lines:
    """One line for each change, with the time of day."""

    def __init__(self) -> None:
        self._shown: RunView | None = None
        self._troubled = False

    def show(self, seen: Sighting) -> None:
        """Print what is different from the last look."""
        now = datetime.now(UTC)
        left = words.left(seen.estimate(now))
        for line in tables.plain_changes(self._shown, seen.view, now, left=left):
            _say(line, now)
        self._shown = seen.view

    def trouble(self, why: str) -> None:
        """Print that the hub is out of reach, once, and that it is back."""
        if why and not self._troubled:
            _say(f"lost touch with the hub, trying on: {why}", datetime.now(UTC))
        elif not why:
            _say("in touch with the hub again", datetime.now(UTC))
        self._troubled = bool(why)


def _say(line: str, now: datetime) -> None:
    click.echo(f"{now.astimezone():%H:%M:%S} {line}")


class LiveBoard:
    """A screen that is redrawn as time goes by; ages move without anything having changed."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._seen: Sighting | None = None
        self._trouble: Trouble | None = None

    def show(self, seen: Sighting) -> None:
        """Draw this from now on."""
        self._seen = seen

    def trouble(self, why: str) -> None:
        """Draw for how long the hub is out of reach, and why."""
        since = self._trouble.since if self._trouble else datetime.now(UTC)
        self._trouble = Trouble(why, since) if why else None

    def render(self) -> RenderableType:
        """Draw the run as of now."""
        if self._seen is None:
            return Text("")
        # One line is the cursor's.
        width, height = self._console.width, self._console.height - 1
        now = datetime.now(UTC)
        return board(self._seen, now, width=width, height=height, trouble=self._trouble)
