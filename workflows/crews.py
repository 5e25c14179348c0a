"""Tasks of a workflow that run side by side, to which more are added as it continues."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, Final

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from planning.errors import joined
    from workflows import calls


AT_A_TIME: Final = timedelta(seconds=0.5)
"""Errors that come within this time are reported together."""


class Crew:
    """Tasks that run side by side, to which more may be added."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self._open = 0
        self._next_end: asyncio.Future[None] = asyncio.Future()
        self.failed = False
        """Whether one has ended with an error."""

    @property
    def idle(self) -> bool:
        """Whether all have ended."""
        return self._open == 0

    def add(self, work: Coroutine[Any, Any, None]) -> None:
        """Start one more."""
        task = asyncio.create_task(work)
        self._tasks.append(task)
        self._open += 1
        task.add_done_callback(self._note)

    async def next_end(self) -> None:
        """Wait until another one has ended."""
        # A future and not a condition: the waiter resumes before those that wait for conditions, so
        # that commands keep the order that they have in the histories of earlier releases.
        self._next_end = asyncio.Future()
        await self._next_end

    async def raise_errors(self) -> None:
        """Raise the first error, joined with those that follow at once, in the order of the tasks.

        Raises:
            RunAborted: a cluster failed (contract: 5).
        """
        if not self.failed:
            return
        # What makes one cluster fail, such as another run, often makes several fail at a time.
        await workflow.sleep(AT_A_TIME, summary="errors of other clusters")
        errors = [error for task in self._tasks if task.done() and (error := task.exception())]
        raise joined(errors)

    def give_up(self) -> None:
        """Cancel those that have not ended."""
        for task in self._tasks:
            calls.give_up(task)

    def _note(self, task: asyncio.Task[None]) -> None:
        self._open -= 1
        self.failed = self.failed or (not task.cancelled() and task.exception() is not None)
        if not self._next_end.done():
            self._next_end.set_result(None)
