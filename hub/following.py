"""Credentials that change on disk while the process runs.

A certificate, a key, a token or a whole kubeconfig is replaced there long before the old one
expires: cert-manager, the kubelet and people all do it that way, and nobody restarts what reads it.
"""

import logging
from dataclasses import replace
from time import monotonic
from typing import Final

from hub.access import Access, Source
from hub.errors import BadConfiguration

logger = logging.getLogger(__name__)

LOOK_AGAIN: Final = 1.0
"""Seconds between two looks at the files: a look costs a few microseconds for each of them."""
TRY_AGAIN: Final = 10.0
"""Seconds until files are read again that could not be used: others, named by them, may be late."""


class Following:
    """The way to an API server, read again whenever one of its files has changed.

    What cannot be used is said in the log once, and the old one stays: the API server judges it.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._seen = access.sources
        self._look_again_at = monotonic() + LOOK_AGAIN
        self._complaint = ""

    async def current(self) -> Access:
        """Return what to connect with now."""
        if monotonic() >= self._look_again_at:
            # Set first: others that ask while it is being read again go on with the old one.
            self._look_again_at = monotonic() + LOOK_AGAIN
            await self._follow()
        return self._access

    async def _follow(self) -> None:
        seen = tuple(Source.of(each.path) for each in self._seen)
        if seen == self._seen or self._access.again is None:
            return
        host = self._access.host
        try:
            fresh = await self._access.again()
        except (BadConfiguration, OSError, ValueError) as error:
            self._complain(f"cannot be used ({error}), so the old ones stay in use")
            return
        if fresh.host != host:
            # Everything that is known is about the old one.
            self._complain(f"are for {fresh.host} now: restart to connect there")
            return
        self._take(fresh)

    def _complain(self, complaint: str) -> None:
        if complaint != self._complaint:
            logger.warning("the changed credentials for %s %s", self._access.host, complaint)
        self._complaint = complaint
        self._look_again_at = monotonic() + TRY_AGAIN

    def _take(self, fresh: Access) -> None:
        before = self._access
        self._complaint = ""
        self._seen = fresh.sources
        if fresh.fingerprint == before.fingerprint:
            # Only a token is new: connections stay.
            fresh = replace(fresh, tls=before.tls)
        self._access = fresh
        logger.info("the changed credentials for %s are in use", fresh.host)
