"""Workers that bring one key after the other to where it should be."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta

from hub.errors import Conflict, TooManyRequests, Unavailable
from hub.objects import Key
from hub.queue import WorkQueue

logger = logging.getLogger(__name__)

Reconcile = Callable[[Key], Awaitable[timedelta | None]]
"""Looks at one object and does what is missing; returns when to look again, if ever."""


class Controller:
    """Takes keys from its queue and reconciles them, several at once, each key by one worker.

    What passes by itself (no connection, a conflict, too many requests) is retried without
    noise; any other exception is logged with its stack and retried as well.
    """

    def __init__(
        self,
        name: str,
        reconcile: Reconcile,
        workers: int = 1,
        *,
        around: Callable[[Key], AbstractContextManager[None]] | None = None,
    ) -> None:
        """`around` is entered for each look at a key, as to name it in the log or to time it."""
        self.name = name
        self.queue: WorkQueue[Key] = WorkQueue()
        self._around = around
        self._reconcile = reconcile
        self._workers = workers

    async def run(self) -> None:
        """Work until cancelled; what is under way is cancelled too."""
        try:
            await asyncio.gather(*(self._work() for _ in range(self._workers)))
        finally:
            self.queue.close()

    async def _work(self) -> None:
        while True:
            key = await self.queue.get()
            try:
                with self._around(key) if self._around else nullcontext():
                    await self._handle(key)
            finally:
                self.queue.done(key)

    async def _handle(self, key: Key) -> None:
        try:
            again = await self._reconcile(key)
        except TooManyRequests as error:
            self._retry_quietly(key, error, at_least=error.retry_after)
        except (Unavailable, Conflict) as error:
            self._retry_quietly(key, error)
        except Exception:
            pause = self.queue.retry(key)
            logger.exception("%s failed on %s, again in %s", self.name, "/".join(key), pause)
        else:
            self.queue.forget(key)
            if again is not None:
                self.queue.add_after(key, again)

    def _retry_quietly(
        self, key: Key, error: Exception, *, at_least: timedelta = timedelta(0)
    ) -> None:
        pause = self.queue.retry(key, at_least=at_least)
        logger.debug("%s on %s, again in %s: %s", self.name, "/".join(key), pause, error)
