"""Showing a run as it changes: redrawn on a terminal, line by line elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Protocol

import click
from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from planning.runs.views import RunView
from starter import tables, words
from starter.run.board import Sighting, Trouble, board

REDRAWN_PER_SECOND = 4
"""Often enough for ages in seconds to tick smoothly."""


class Screen(Protocol):
    """Shows a run each time it changes."""

    def show(self, seen: Sighting) -> None:
        """Show the run as it is now."""

    def trouble(self, why: str) -> None:
        """Show why the hub is unreachable; an empty text means that it is back."""


@contextmanager
def screen(console: Console) -> Iterator[Screen]:
    """Provide the screen that fits where the output goes."""
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
        """Print what has changed since the last call."""
        now = datetime.now(UTC)
        left = words.left(seen.estimate(now))
        for line in tables.plain_changes(self._shown, seen.view, now, left=left):
            _say(line, now)
        self._shown = seen.view

    def trouble(self, why: str) -> None:
        """Print that the hub is unreachable, once, and that it is back."""
        if why and not self._troubled:
            _say(f"lost the hub, still trying: {why}", datetime.now(UTC))
        elif not why:
            _say("reached the hub again", datetime.now(UTC))
        self._troubled = bool(why)


def _say(line: str, now: datetime) -> None:
    click.echo(f"{now.astimezone():%H:%M:%S} {line}")


class LiveBoard:
    """A screen that is redrawn regularly, because ages change even if nothing else does."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._seen: Sighting | None = None
        self._trouble: Trouble | None = None

    def show(self, seen: Sighting) -> None:
        """Draw the run from now on."""
        self._seen = seen

    def trouble(self, why: str) -> None:
        """Draw how long the hub has been unreachable, and why."""
        since = self._trouble.since if self._trouble else datetime.now(UTC)
        self._trouble = Trouble(why, since) if why else None

    def render(self) -> RenderableType:
        """Draw the run as of now."""
        if self._seen is None:
            return Text("")
        # One line is left for the cursor.
        width, height = self._console.width, self._console.height - 1
        now = datetime.now(UTC)
        return board(self._seen, now, width=width, height=height, trouble=self._trouble)
