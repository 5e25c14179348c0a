"""Noticing that Temporal was away: it may have come back without the workflows of the runs.

While there is a run, one question about one of them stays open at Temporal: whether its workflow
is over. It costs a request each 20 s, however many runs there are, and it breaks off when Temporal
goes. When Temporal answers again, each run is started again, which is nothing to those that are
still there.
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
LONGEST_PAUSE: Final = timedelta(seconds=10)
"""Between two tries to reach a Temporal that is away; the runs stand still meanwhile."""


class Told(NamedTuple):
    """A run whose workflow was there when the bridge last had to do with it."""

    key: Key
    ref: RunRef
    start_again: Callable[[Key], None]


class Presence:
    """Has runs started again whose workflows may be lost."""

    def __init__(self, workflows: Workflows, told: Callable[[], list[Told]]) -> None:
        self._workflows = workflows
        self._told = told
        self._changed = asyncio.Event()

    def note(self) -> None:
        """There may be a run to ask about."""
        self._changed.set()

    async def run(self) -> None:
        """Ask until cancelled."""
        while True:
            self._changed.clear()
            if told := self._told():
                await self._ask(told[0])
            else:
                await self._changed.wait()

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
        for each in self._told():
            each.start_again(each.key)
