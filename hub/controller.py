"""Workers that reconcile the keys of a queue."""

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
"""Reconciles one object; returns when to reconcile it again, or None."""


class Controller:
    """Takes keys from its queue and reconciles them, several at once, each key by one worker.

    Temporary errors (no connection, a conflict, too many requests) are retried quietly; any other
    exception is logged with its stack trace and retried as well.
    """

    def __init__(
        self,
        name: str,
        reconcile: Reconcile,
        workers: int = 1,
        *,
        around: Callable[[Key], AbstractContextManager[None]] | None = None,
    ) -> None:
        """`around` wraps each reconciliation of a key, for example to name it in the log."""
        self.name = name
        self.queue: WorkQueue[Key] = WorkQueue()
        self._around = around
        self._reconcile = reconcile
        self._workers = workers

    async def run(self) -> None:
        """Run until cancelled; reconciliations in progress are cancelled too."""
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
            logger.exception("%s failed on %s, retrying in %s", self.name, "/".join(key), pause)
        else:
            self.queue.forget(key)
            if again is not None:
                self.queue.add_after(key, again)

    def _retry_quietly(
        self, key: Key, error: Exception, *, at_least: timedelta = timedelta(0)
    ) -> None:
        pause = self.queue.retry(key, at_least=at_least)
        logger.debug("%s failed on %s, retrying in %s: %s", self.name, "/".join(key), pause, error)
