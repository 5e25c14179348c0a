"""What is sent as Authorization. Programs that give out tokens are asked again in time."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from time import monotonic

logger = logging.getLogger(__name__)

RENEW_AFTER = timedelta(minutes=1)
"""How long a token is used without looking for a newer one; what client-go does as well."""

Authorization = Callable[[], Awaitable[str]]
"""Returns what to send as Authorization; empty for nothing."""


async def nobody() -> str:
    """Send nothing: a client certificate says who we are, or nothing does."""
    return ""


def fixed(value: str) -> Authorization:
    """Send the same with every request."""

    async def always() -> str:
        return value

    return always


class Renewal:
    """Gives each request a token that is not older than `RENEW_AFTER`.

    When a new one cannot be had, the old one stays in use: the API server judges it.
    """

    def __init__(self, first: str, source: Callable[[], Awaitable[str]]) -> None:
        self._current = first
        self._source = source
        self._renewed_at = monotonic()
        self._renewing = asyncio.Lock()

    async def __call__(self) -> str:
        """Return the token, renewed when it is time; many requests at once do it once."""
        async with self._renewing:
            if monotonic() - self._renewed_at >= RENEW_AFTER.total_seconds():
                self._renewed_at = monotonic()
                try:
                    self._current = await self._source()
                except (OSError, ValueError) as error:
                    logger.warning("the token could not be renewed, the old one stays: %s", error)
            return self._current
