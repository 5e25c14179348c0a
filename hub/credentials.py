"""The Authorization header of requests, with tokens that are renewed in time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from time import monotonic

logger = logging.getLogger(__name__)

RENEW_AFTER = timedelta(minutes=1)
"""How long a token is used before asking for a newer one; the same as in client-go."""

Authorization = Callable[[], Awaitable[str]]
"""Returns the Authorization header; empty to send none."""


async def nobody() -> str:
    """Return no header: a client certificate authenticates the requests, or nothing does."""
    return ""


def fixed(value: str) -> Authorization:
    """Return an authorization that sends the same value with every request."""

    async def always() -> str:
        return value

    return always


class Renewal:
    """Provides each request with a token that is not older than `RENEW_AFTER`.

    If the token cannot be renewed, the old one stays in use: the API server decides whether it is
    still valid.
    """

    def __init__(self, first: str, source: Callable[[], Awaitable[str]]) -> None:
        self._current = first
        self._source = source
        self._renewed_at = monotonic()
        self._renewing = asyncio.Lock()

    async def __call__(self) -> str:
        """Return the token, renewed if it is due; concurrent requests renew it only once."""
        async with self._renewing:
            if monotonic() - self._renewed_at >= RENEW_AFTER.total_seconds():
                self._renewed_at = monotonic()
                try:
                    self._current = await self._source()
                except (OSError, ValueError) as error:
                    logger.warning("could not renew the token, still using the old one: %s", error)
            return self._current
