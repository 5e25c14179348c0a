"""A pool of connections to an API server."""

import asyncio
from contextlib import suppress
from typing import Any, Final

import aiohttp

CLOSING_TAKES: Final = 2.0
"""Seconds after which a connection that has not confirmed its end counts as closed."""


class Connections(aiohttp.TCPConnector):
    """Keeps connections alive, and drops those at once whose answer was not read to the end.

    An orderly TLS shutdown takes a round trip, for which nothing waits: a program that leaves a
    watch and exits before the server has confirmed would leave the socket open.
    """

    def __init__(self, *, limit: int) -> None:
        """`limit` is the maximum number of connections; 0 for no limit."""
        super().__init__(limit=limit)
        self._making: set[asyncio.Task[Any]] = set()

    async def _create_connection(self, req: Any, traces: Any, timeout: Any) -> Any:  # noqa: ANN401, ASYNC109
        """Finish connecting even if cancelled, because giving up midway is a TLS shutdown, too."""
        making = asyncio.create_task(super()._create_connection(req, traces, timeout))
        self._making.add(making)
        making.add_done_callback(self._making.discard)
        try:
            return await asyncio.shield(making)
        except asyncio.CancelledError:
            making.add_done_callback(_drop)
            raise

    def _release(self, key: Any, protocol: Any, *, should_close: bool = False) -> None:  # noqa: ANN401
        if should_close or protocol.should_close:
            protocol.abort()
            should_close = True
        super()._release(key, protocol, should_close=should_close)

    async def close(self, *, abort_ssl: bool = True) -> None:
        """Close all connections.

        A connection that failed while it was being made never reports that it is closed, and a
        program that wants to exit must not wait for it.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_TAKES):
                await super().close(abort_ssl=abort_ssl)
                await asyncio.gather(*self._making, return_exceptions=True)


def _drop(made: asyncio.Task[Any]) -> None:
    """Close a connection that is no longer needed."""
    if not made.cancelled() and made.exception() is None:
        made.result().abort()
