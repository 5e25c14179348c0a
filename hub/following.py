"""Credentials that change on disk while the process runs.

A certificate, a key, a token or a whole kubeconfig is replaced long before the old one expires.
cert-manager, the kubelet and people all do so, without restarting the processes that read it.
"""

import logging
from dataclasses import replace
from time import monotonic
from typing import Final

from hub.access import Access, CredentialFile
from hub.errors import BadConfiguration

logger = logging.getLogger(__name__)

LOOK_AGAIN: Final = 1.0
"""Seconds between two checks of the files; a check takes a few microseconds per file."""
TRY_AGAIN: Final = 10.0
"""Seconds until unusable files are read again: files that they name may be replaced a bit later."""


class Following:
    """The access to an API server, read again whenever one of its files has changed.

    Unusable credentials are logged once, and the old ones stay in use: the API server decides
    whether they are still valid.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._seen = access.sources
        self._look_again_at = monotonic() + LOOK_AGAIN
        self._complaint = ""

    async def current(self) -> Access:
        """Return the current access."""
        if monotonic() >= self._look_again_at:
            # Set first: callers that ask while the files are being read use the old access.
            self._look_again_at = monotonic() + LOOK_AGAIN
            await self._follow()
        return self._access

    async def _follow(self) -> None:
        seen = tuple(CredentialFile.of(each.path) for each in self._seen)
        if seen == self._seen or self._access.again is None:
            return
        host = self._access.host
        try:
            fresh = await self._access.again()
        except (BadConfiguration, OSError, ValueError) as error:
            self._complain(f"cannot be used ({error}), so the old ones stay in use")
            return
        if fresh.host != host:
            # Everything that this process knows comes from the old server.
            self._complain(f"are for {fresh.host} now: restart to connect there")
            return
        self._take(fresh)

    def _complain(self, complaint: str) -> None:
        if complaint != self._complaint:
            logger.warning("the new credentials for %s %s", self._access.host, complaint)
        self._complaint = complaint
        self._look_again_at = monotonic() + TRY_AGAIN

    def _take(self, fresh: Access) -> None:
        before = self._access
        self._complaint = ""
        self._seen = fresh.sources
        if fresh.fingerprint == before.fingerprint:
            # Only the token is new, so connections can stay open.
            fresh = replace(fresh, tls=before.tls)
        self._access = fresh
        logger.info("now using the new credentials for %s", fresh.host)
