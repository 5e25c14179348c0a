"""Noticing that workflows of runs are over or lost, though the runs are not.

While there is a run, one question about one of them stays open at Temporal: whether its workflow
is over. It costs a request each 20 s, however many runs there are, and it breaks off when Temporal
goes: it may come back without the workflows. Besides, Temporal is asked every 30 s which workflows
there are: somebody may have ended one.

A run whose workflow may be missing is started again, which is nothing to one that is still there.
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
"""Between two looks at which workflows there are. It costs a request for a thousand runs."""
LONGEST_PAUSE: Final = timedelta(seconds=10)
"""Between two tries to reach a Temporal that is away; the runs stand still meanwhile."""


class Told(NamedTuple):
    """A run whose workflow was there when the bridge last had to do with it."""

    key: Key
    ref: RunRef
    start_again: Callable[[Key], None]
    is_over: bool
    """It has been seen that its workflow is over, and the run is being told."""


class Presence:
    """Has runs started again whose workflows may be over or lost."""

    def __init__(self, workflows: Workflows, told: Callable[[], list[Told]]) -> None:
        self._workflows = workflows
        self._told = told
        self._changed = asyncio.Event()

    def note(self) -> None:
        """There may be a run to ask about."""
        self._changed.set()

    async def run(self) -> None:
        """Ask until cancelled."""
        await asyncio.gather(self._watch_one(), self._look_at_all())

    async def _watch_one(self) -> None:
        while True:
            self._changed.clear()
            if told := self._there():
                await self._ask(told[0])
            else:
                await self._changed.wait()

    async def _look_at_all(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY.total_seconds())
            # Before Temporal is asked: those that are begun meanwhile are not missing.
            if told := self._told():
                await self._look(told)

    async def _look(self, told: list[Told]) -> None:
        try:
            running = await self._workflows.running()
        except Unavailable as error:
            logger.debug("Temporal does not say which workflows there are: %s", error)
            return
        for each in told:
            if each.ref.workflow_id not in running:
                each.start_again(each.key)

    def _there(self) -> list[Told]:
        return [each for each in self._told() if not each.is_over]

    async def _ask(self, one: Told) -> None:
        try:
            there = await self._workflows.until_over(one.ref)
        except Unavailable as error:
            logger.warning("Temporal is away: %s", error)
            await self._until_back(one.ref)
            logger.info("Temporal is back")
            self._start_all_again()
            return
        if there:
            # On the hub it will be over in a moment; if not, it is told why.
            one.start_again(one.key)
        else:
            logger.warning(
                "Temporal does not know run %s any more", one.ref.reference(one.ref.name)
            )
            self._start_all_again()

    async def _until_back(self, ref: RunRef) -> None:
        pause = FIRST_PAUSE
        while True:
            await asyncio.sleep(pause.total_seconds())
            pause = min(2 * pause, LONGEST_PAUSE)
            try:
                await self._workflows.exists(ref)
            except Unavailable as error:
                logger.debug("Temporal is still away: %s", error)
            else:
                return

    def _start_all_again(self) -> None:
        for each in self._there():
            each.start_again(each.key)
