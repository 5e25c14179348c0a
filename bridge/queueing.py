"""Waking runs that wait for other runs of their placement, when one of those has changed.

Without a rollout policy no run waits, and nothing is sent. A run that is not woken looks by itself
after some time, so a bridge that is killed loses nothing.

policies: 2.1 (concurrentRuns), 3
"""

from collections.abc import Callable
from typing import Final

from api.runs import UpdateRun
from bridge.runs import RunIndex, key_of, logged_about_run
from bridge.temporal import Signal, Workflows
from hub import Controller, Key
from planning.policies import queueing
from planning.policies.queueing import Standing
from workflows.messages import QUEUE_MOVED, Recheck

WORKERS: Final = 4
"""Runs that are signalled concurrently; each signal is one request."""


class Queues:
    """Signals the runs of one scope that wait for others."""

    def __init__(
        self, runs: RunIndex, workflows: Workflows, *, lost: Callable[[Key], None]
    ) -> None:
        """`lost` is called for active runs whose workflow is missing."""
        self._runs = runs
        self._workflows = workflows
        self._lost = lost
        self._standings: dict[Key, Standing] = {}
        self._controller = Controller(
            "bridge of queues", self._wake, workers=WORKERS, around=logged_about_run
        )

    async def run(self) -> None:
        """Signal until cancelled."""
        await self._controller.run()

    def note(self, key: Key, run: UpdateRun | None) -> None:
        """Record how a run has changed, and have those that wait for it signalled."""
        before, after = self._standings.get(key), queueing.standing(run) if run else None
        if before == after:
            return
        if after:
            self._standings[key] = after
        else:
            del self._standings[key]
        if before is None:
            if after and after.waits:
                # It was waiting already when this bridge started, and may have missed something.
                self._controller.queue.add(key)
            return
        for other, waiting in self._standings.items():
            is_neighbour = other != key and other[0] == key[0]
            if is_neighbour and queueing.concerns(waiting, before=before, after=after):
                self._controller.queue.add(other)

    async def _wake(self, key: Key) -> None:
        run = self._runs.get(key)
        if run is None or not queueing.standing(run).waits:
            return
        signal = Signal(QUEUE_MOVED, Recheck(reason="another run of the placement has changed"))
        if not await self._workflows.send(self._runs.ref(run), signal):
            self._lost(key_of(run))
