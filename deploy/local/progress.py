"""Progress of long tasks: live bars on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Lock
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

_SIGN_OF_LIFE: Final = timedelta(seconds=30)
"""How often to report that a task is still running, where the output is not a terminal."""

Advance = Callable[[int, int], None]
"""Called with the amount done and the total; 0 of 0 if unknown."""


class Cancelled(Exception):  # noqa: N818 - not an error
    """The user has cancelled the tasks."""


class ProgressDisplay:
    """Shows progress to the user at the terminal; threads may share it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._cancelled = Event()
        self._lock = Lock()
        self._bars: Bars | None = None  # one block for all tasks, while there are any
        self._tasks = 0

    def say(self, text: str) -> None:
        """Print a line."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    @contextmanager
    def task(self, title: str) -> Iterator[Advance]:
        """Show that a task is running, and how long it took when it is done.

        Raises Cancelled, at the start or from the `Advance` that it yields.
        """
        self._go_on()
        started = time.monotonic()
        with self._bar(title) if self._console.is_terminal else self._lines(title) as advance:
            yield advance
        self.say(f"{title}: done in {_shown(time.monotonic() - started)}")

    def cancel(self) -> None:
        """Cancel all tasks: each raises Cancelled when it next advances, and no new one starts."""
        self._cancelled.set()

    def _go_on(self) -> None:
        if self._cancelled.is_set():
            raise Cancelled

    @contextmanager
    def _bar(self, title: str) -> Iterator[Advance]:
        with self._block() as bars:
            task = bars.add_task(title, total=None)

            def advance(done: int, total: int) -> None:
                self._go_on()
                bars.update(task, completed=done, total=total or None)

            try:
                yield advance
            finally:
                bars.remove_task(task)

    @contextmanager
    def _block(self) -> Iterator[Bars]:
        """Yield the block of bars, shared by all tasks: a terminal can show only one."""
        with self._lock:
            if self._bars is None:
                columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn())
                self._bars = Bars(
                    *columns, TimeElapsedColumn(), console=self._console, transient=True
                )
                self._bars.start()
            bars = self._bars
            self._tasks += 1
        try:
            yield bars
        finally:
            with self._lock:
                self._tasks -= 1
                if self._tasks == 0:
                    bars.stop()
                    self._bars = None

    @contextmanager
    def _lines(self, title: str) -> Iterator[Advance]:
        self.say(f"{title} …")
        started = said = time.monotonic()

        def advance(done: int, total: int) -> None:
            nonlocal said
            self._go_on()
            now = time.monotonic()
            if now - said >= _SIGN_OF_LIFE.total_seconds():
                said = now
                share = f", {done * 100 // total} %" if total else ""
                self.say(f"{title}: {_shown(now - started)}{share}")

        yield advance


def silent() -> ProgressDisplay:
    """Return a progress that shows nothing."""
    return ProgressDisplay(Console(quiet=True))


def _shown(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60} m {whole % 60} s" if whole >= 60 else f"{whole} s"
