"""A pool of connections to an API server."""

import asyncio
from contextlib import suppress
from typing import Any, Final

import aiohttp

CLOSING_TAKES: Final = 2.0
"""Seconds after which a connection that has not said so counts as closed."""


class Connections(aiohttp.TCPConnector):
    """Keeps connections alive; drops at once those whose answer was not read to its end.

    Ending TLS politely takes a round trip that nobody waits for: a program that leaves a watch
    and ends before its event loop has seen the server's goodbye would leave the socket open.
    """

    def _release(self, key: Any, protocol: Any, *, should_close: bool = False) -> None:  # noqa: ANN401
        if should_close or protocol.should_close:
            protocol.abort()
            should_close = True
        super()._release(key, protocol, should_close=should_close)

    async def close(self, *, abort_ssl: bool = True) -> None:
        """Close all connections.

        One that broke while it was being made never says that it is closed, and a program that is
        to end must not wait for it.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_TAKES):
                await super().close(abort_ssl=abort_ssl)
