"""Carrying out faults, and making sure that each fault ends."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator
from typing import Final

from deploy.local.errors import LocalFleetError
from deploy.local.state import TEMPORAL
from tests.soak.fleet import Fleet
from tests.soak.strikes import Blow, Strike, Weather
from tests.support.fault_proxy import Faults

logger = logging.getLogger(__name__)

CALM_EVERY: Final = 4
"""Number of faults after which all processes have to become ready."""
LOOK: Final = 2.0
"""Seconds between two checks for processes that ended unexpectedly."""
BROKEN: Final = "interrupted (9)"
"""What Temporal's dev server logs with every request once its SQLite file is broken."""
_MANY: Final = 5
"""Number of such lines between two checks, twice in a row, after which the server is replaced."""


class Striker:
    """Causes faults in a fleet."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._log_read = 0
        self.done: Counter[str] = Counter()
        """Number of faults by kind."""

    async def strike(self, strikes: Iterator[Strike]) -> None:
        """Cause faults of processes until cancelled, each once its process is ready.

        On a busy machine a process may take longer to start than the time until its next fault.
        From time to time all processes have to become ready, or runs would never make progress.
        """
        for number, each in enumerate(strikes):
            await self._ready(*([] if number % CALM_EVERY == 0 else [each.target]))
            logger.info("%s of %s for %.1f s", each.blow, each.target, each.lasts)
            self.done[f"{each.blow} {each.target}"] += 1
            await self._blow(each)
            await asyncio.sleep(each.rest)

    async def _blow(self, strike: Strike) -> None:
        fleet, target = self._fleet, strike.target
        if strike.blow is Blow.PAUSE:
            fleet.pause(target)
        elif strike.blow is Blow.KILL:
            fleet.kill(target)
        else:
            await fleet.end(target)
        try:
            await asyncio.sleep(strike.lasts)
        finally:
            if strike.blow is Blow.PAUSE:
                fleet.resume(target)
            else:
                await self._start(target)

    async def _ready(self, *names: str) -> None:
        try:
            await self._fleet.ready(*names)
        except LocalFleetError as error:
            self._fleet.troubles.append(str(error))

    async def _start(self, name: str) -> None:
        try:
            await self._fleet.start(name)
        except LocalFleetError as error:
            self._fleet.troubles.append(f"{name} does not start: {error}")

    async def trouble_network(self, weather: Iterator[Weather]) -> None:
        """Cause faults of the network until cancelled."""
        for each in weather:
            proxy = self._fleet.proxies[each.target]
            self.done[f"bad network: {each.name}"] += 1
            proxy.faults = each.faults
            try:
                await asyncio.sleep(each.lasts)
            finally:
                proxy.faults = Faults()
            await asyncio.sleep(each.rest)

    async def watch(self) -> None:
        """Record unexpected exits, and replace a broken Temporal server, until cancelled."""
        interrupted = 0
        while True:
            await asyncio.sleep(LOOK)
            for name in self._fleet.deaths():
                self._fleet.troubles.append(f"{name} ended by itself")
                await self._start(name)
            again = self._interrupted()
            if again >= _MANY <= interrupted and TEMPORAL not in self._fleet.down:
                self.done["Temporal's dev server broke down, replaced"] += 1
                await self._fleet.end(TEMPORAL)
                await self._start(TEMPORAL)
                again = 0
            interrupted = again

    def _interrupted(self) -> int:
        """Return how often Temporal has logged since the last check that its file is broken."""
        with self._fleet.processes.log(TEMPORAL).open("rb") as log:
            log.seek(self._log_read)
            found = log.read()
        self._log_read += len(found)
        return found.count(BROKEN.encode())

    @property
    def met(self) -> Counter[str]:
        """The number of requests hit by each fault of the network."""
        met: Counter[str] = Counter()
        for proxy in self._fleet.proxies.values():
            met += proxy.done
        return met
