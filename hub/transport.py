"""HTTP exchanges with an API server: connections, credentials, time limits, counting, errors."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlencode, urlsplit
from urllib.request import getproxies_environment, proxy_bypass

import aiohttp
from multidict import CIMultiDict

from hub import failures, vitals
from hub.access import Access
from hub.errors import HubError
from hub.following import Following
from hub.limits import Limits
from hub.objects import Json
from hub.requests import ApiRequest, Lane
from hub.vitals import Answers

LONGEST_LINE: Final = 2 * 1024**2
"""Maximum bytes of a line of a watch: an object is one line, and a hub stores about 1.5 MB."""


class Transport:
    """Sends requests over kept-alive connections, with a pool per lane. Never retries."""

    def __init__(self, access: Access, *, limits: Limits, user_agent: str) -> None:
        self._following = Following(access)
        self._proxy = proxy_for(access.host)
        # 0 means no limit.
        most = {Lane.WORK: limits.connections, Lane.HEARTBEATS: limits.heartbeats}
        self._sessions = {lane: _session(most.get(lane, 0)) for lane in Lane}
        self._user_agent = user_agent
        self._limits = limits
        self.url: str = access.host
        self.requests: Counter[tuple[str, str]] = Counter()
        self.answers = Answers()

    async def close(self) -> None:
        """Close all connections."""
        async with AsyncExitStack() as stack:
            # If this is cancelled, the stack still closes the others.
            for session in self._sessions.values():
                stack.push_async_callback(session.close)

    async def send(self, request: ApiRequest) -> Json:
        """Send one request and return its parsed answer. Raises the errors of `hub.errors`."""
        try:
            async with self._exchange(request, self._limit()) as response:
                return failures.parse(await response.read(), asked=str(request), url=self.url)
        finally:
            vitals.go_on()

    async def date(self, request: ApiRequest) -> datetime:
        """Return when the API server answered, by its own clock, truncated to whole seconds.

        Raises HubError if the answer has no Date header, which a proxy may have removed.
        """
        async with self._exchange(request, self._limit()) as response:
            said = response.headers.get("Date")
            if said is None:
                raise HubError(f"{self.url} answered without a Date header")
            return parsedate_to_datetime(said)

    def _limit(self) -> aiohttp.ClientTimeout:
        return aiohttp.ClientTimeout(
            total=self._limits.request_timeout.total_seconds(),
            connect=self._limits.connect_timeout.total_seconds(),
        )

    async def lines(self, request: ApiRequest) -> AsyncGenerator[bytes, None]:
        """Yield the lines of a streamed answer until the server ends it."""
        limit = aiohttp.ClientTimeout(
            total=None,
            connect=self._limits.connect_timeout.total_seconds(),
            sock_read=self._limits.silence.total_seconds(),
        )
        async with self._exchange(request, limit) as response:
            async for line in response.content:
                yield line

    @asynccontextmanager
    async def _exchange(
        self, request: ApiRequest, limit: aiohttp.ClientTimeout
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        self.requests[request.verb, request.resource] += 1
        with failures.translated(asked=str(request), url=self.url):
            with self.answers.timed(request.verb) as timing:
                response = await self._open(request, limit)
                timing.answered(response.status)
            try:
                if not response.ok:
                    raise await failures.read(
                        response, asked=str(request), instead=_spoken_of(request)
                    )
                yield response
            finally:
                # Returns the connection to the pool, or drops it if the answer was not read fully.
                response.release()

    async def _open(
        self, request: ApiRequest, limit: aiohttp.ClientTimeout
    ) -> aiohttp.ClientResponse:
        access = await self._following.current()
        url = self.url + request.path
        if request.query:
            url += "?" + urlencode(request.query)
        return await self._sessions[request.lane].request(
            request.method,
            url,
            headers=await self._headers(request, access),
            data=None if request.body is None else json.dumps(request.body),
            timeout=limit,
            # A connection is reused only with the TLS context that it was made with.
            ssl=access.tls or True,
            proxy=access.proxy or self._proxy,
            server_hostname=access.server_name,
        )

    async def _headers(self, request: ApiRequest, access: Access) -> CIMultiDict[str]:
        headers = CIMultiDict(
            [
                ("Accept", request.accept),
                ("Content-Type", request.content_type),
                ("User-Agent", self._user_agent),
                *access.impersonation,
            ]
        )
        if authorization := await access.authorization():
            headers["Authorization"] = authorization
        return headers


def _session(limit: int) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=Connections(limit=limit),
        # Otherwise it reads ~/.netrc for each request, and fails if that has a default entry.
        trust_env=False,
        read_bufsize=LONGEST_LINE,
    )


def _spoken_of(request: ApiRequest) -> str:
    """Return the error text for requests on secrets, because a refusal may quote their values."""
    return str(request) if request.resource.partition("/")[0] == "secrets" else ""


# -- connections ---------------------------------------------------------------------------


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


# -- the proxy -----------------------------------------------------------------------------


LOOPBACK = ("localhost", "127.0.0.1", "::1")


def proxy_for(url: str) -> str | None:
    """Return the proxy set by HTTPS_PROXY, HTTP_PROXY and NO_PROXY.

    None for this machine's own ports, which a proxy could not reach; Go clients do the same.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in LOOPBACK or proxy_bypass(host):
        return None
    return getproxies_environment().get(parts.scheme)
