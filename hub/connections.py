"""The pool of connections to an API server."""

from typing import Any

import aiohttp


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
