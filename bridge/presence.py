"""Detecting that workflows of active runs are over or lost.

While there are active runs, a long poll asks Temporal whether the workflow of one of them is over.
It costs one request every 20 s, however many runs there are, and it fails when Temporal becomes
unreachable, which may come back without the workflows. In addition, the running workflows are
listed every 30 s, because someone may have ended one.

A run whose workflow may be missing is started again, which has no effect if it still exists.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Final, NamedTuple

from bridge.temporal import Workflows
from hub import Key, Unavailable
from planning.identity import RunRef

logger = logging.getLogger(__name__)

FIRST_PAUSE: Final = timedelta(seconds=0.5)
LOOK_EVERY: Final = timedelta(seconds=30)
"""Pause between two lists of the running workflows. A list costs one request per thousand runs."""
LONGEST_PAUSE: Final = timedelta(seconds=10)
"""Longest pause between attempts to reach Temporal; meanwhile runs make no progress."""


class KnownWorkflow(NamedTuple):
    """A run whose workflow existed when the bridge last started or signalled it."""

    key: Key
    ref: RunRef
    start_again: Callable[[Key], None]
    is_over: bool
    """Whether the workflow is known to be over, and the run is being ended on the hub."""


class Presence:
    """Restarts runs whose workflows may be over or lost."""

    def __init__(self, workflows: Workflows, known: Callable[[], list[KnownWorkflow]]) -> None:
        self._workflows = workflows
        self._known = known
        self._changed = asyncio.Event()

    def note(self) -> None:
        """Look again for a run to watch: there may be a new one."""
        self._changed.set()

    async def run(self) -> None:
        """Watch the workflows until cancelled."""
        await asyncio.gather(self._watch_one(), self._look_at_all())

    async def _watch_one(self) -> None:
        while True:
            self._changed.clear()
            if known := self._not_over():
                await self._ask(known[0])
            else:
                await self._changed.wait()

    async def _look_at_all(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY.total_seconds())
            # Read before Temporal is asked, so that runs started meanwhile do not count as missing.
            if known := self._known():
                await self._look(known)

    async def _look(self, known: list[KnownWorkflow]) -> None:
        try:
            running = await self._workflows.running()
        except Unavailable as error:
            logger.debug("cannot list the workflows in Temporal: %s", error)
            return
        for each in known:
            if each.ref.workflow_id not in running:
                each.start_again(each.key)

    def _not_over(self) -> list[KnownWorkflow]:
        return [each for each in self._known() if not each.is_over]

    async def _ask(self, one: KnownWorkflow) -> None:
        try:
            there = await self._workflows.until_over(one.ref)
        except Unavailable as error:
            logger.warning("Temporal is unreachable: %s", error)
            await self._until_back(one.ref)
            logger.info("Temporal is back")
            self._start_all_again()
            return
        if there:
            # The run is about to end on the hub too; if it does not, it is ended there with the
            # reason.
            one.start_again(one.key)
        else:
            logger.warning("Temporal no longer knows run %s", one.ref.reference(one.ref.name))
            self._start_all_again()

    async def _until_back(self, ref: RunRef) -> None:
        pause = FIRST_PAUSE
        while True:
            await asyncio.sleep(pause.total_seconds())
            pause = min(2 * pause, LONGEST_PAUSE)
            try:
                await self._workflows.exists(ref)
            except Unavailable as error:
                logger.debug("Temporal is still unreachable: %s", error)
            else:
                return

    def _start_all_again(self) -> None:
        for each in self._not_over():
            each.start_again(each.key)
