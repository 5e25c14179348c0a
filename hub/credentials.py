"""Tokens that change while the program runs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Protocol

from kubernetes.aio.client import Configuration

logger = logging.getLogger(__name__)

RENEW_AFTER = timedelta(minutes=1)
"""How long a token is used without looking for a newer one; what client-go does as well."""

Renew = Callable[[Configuration], Awaitable[None]]


class ExecLoader(Protocol):
    """The part of the library's kubeconfig loader that runs a credential plugin."""

    token: str

    async def load_from_exec_plugin(self) -> object:
        """Run the plugin if its last token expires soon, and keep the new one as `token`."""


def read_token(file: Path) -> str:
    """Bearer token in a file, without the line end that editors leave there."""
    return file.read_text().strip()


class Renewal:
    """Gives each request a token that is not older than `RENEW_AFTER`.

    When a new one cannot be had, the old one stays in use: the API server judges it.
    """

    def __init__(self, source: Callable[[], Awaitable[str]]) -> None:
        self._source = source
        self._renewed_at = monotonic()
        self._renewing = asyncio.Lock()

    async def __call__(self, configuration: Configuration) -> None:
        """Renew the configuration's token when it is time; many requests at once do it once."""
        async with self._renewing:
            if monotonic() - self._renewed_at < RENEW_AFTER.total_seconds():
                return
            self._renewed_at = monotonic()
            try:
                configuration.api_key["BearerToken"] = await self._source()
            except (OSError, ValueError) as error:
                logger.warning("the token could not be renewed, the old one stays: %s", error)


def from_file(file: Path) -> Renewal:
    """Renew from a file that someone else keeps fresh."""

    async def source() -> str:
        return f"Bearer {read_token(file)}"

    return Renewal(source)


def from_plugin(loader: ExecLoader) -> Renewal:
    """Renew with the kubeconfig's credential plugin."""

    async def source() -> str:
        await loader.load_from_exec_plugin()
        return loader.token

    return Renewal(source)
