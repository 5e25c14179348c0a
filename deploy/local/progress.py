"""Showing that something takes its time: a live bar on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

_SIGN_OF_LIFE: Final = timedelta(seconds=30)
"""How often a log that is not a terminal hears that work goes on."""

Advance = Callable[[int, int], None]
"""Called with how much is done and how much there is; 0 of 0 when nobody knows."""


class Progress:
    """Tells the person at the terminal what happens."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def say(self, text: str) -> None:
        """Show a line."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    @contextmanager
    def task(self, title: str) -> Iterator[Advance]:
        """Show that a task is under way, and at its end how long it took."""
        started = time.monotonic()
        with self._bar(title) if self._console.is_terminal else self._lines(title) as advance:
            yield advance
        self.say(f"{title}: done in {_shown(time.monotonic() - started)}")

    @contextmanager
    def _bar(self, title: str) -> Iterator[Advance]:
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
        with Bars(*columns, TimeElapsedColumn(), console=self._console, transient=True) as bars:
            task = bars.add_task(title, total=None)
            yield lambda done, total: bars.update(task, completed=done, total=total or None)

    @contextmanager
    def _lines(self, title: str) -> Iterator[Advance]:
        self.say(f"{title} …")
        started = said = time.monotonic()

        def advance(done: int, total: int) -> None:
            nonlocal said
            now = time.monotonic()
            if now - said >= _SIGN_OF_LIFE.total_seconds():
                said = now
                share = f", {done * 100 // total} %" if total else ""
                self.say(f"{title}: {_shown(now - started)}{share}")

        yield advance


def silent() -> Progress:
    """Return a progress that shows nothing."""
    return Progress(Console(quiet=True))


def _shown(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60} m {whole % 60} s" if whole >= 60 else f"{whole} s"
