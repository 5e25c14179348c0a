"""An HTTP proxy between an engine and its hub that fails like networks and busy servers.

It passes requests on to a real API server. A seed decides which of them fail.
"""

import asyncio
import contextlib
import random
import socket
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol, Self

import aiohttp
from aiohttp import web
from yarl import URL

from deploy.local import ports
from deploy.local.kubeconfigs import write_kubeconfig
from tests.support.eventually import patience

WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_HOP_BY_HOP = frozenset({"connection", "content-length", "host", "transfer-encoding"})
_GONE = b'"code":410'

REASONS = {
    409: "Conflict",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
}
"""The API server's reasons for the simulated answers."""


@dataclass(frozen=True, kw_only=True)
class Faults:
    """What goes wrong, and how often."""

    refused: float = 0
    """Share of writes that are answered with one of `answers` and not passed on."""
    answers: tuple[int, ...] = tuple(REASONS)
    lost: float = 0
    """Share of writes that are carried out but whose answer never arrives."""
    late: float = 0
    """Share of writes whose connection breaks, but which are carried out later anyway, because a
    load balancer had already received them."""
    latest: timedelta = timedelta(seconds=10)
    """Longest time after which a late write is carried out; the actual time is random."""
    longest_delay: timedelta = timedelta(0)
    """Longest delay of a request; the actual delay is random."""
    longest_watch: timedelta | None = None
    """Longest time after which a watch is broken off; the actual time is random."""
    copies: int = 1
    """Number of times that each watch event is delivered."""


class Upstream(Protocol):
    """The API server that requests are passed on to."""

    @property
    def url(self) -> str: ...

    @property
    def token(self) -> str: ...

    @property
    def authority(self) -> Path: ...


@dataclass
class Trap:
    """Holds one matching request until it is released; the answer is lost."""

    matches: Callable[[web.Request], bool]
    carried_out: bool
    """Whether the hub sees the request."""
    late: bool = False
    """Whether the sender gets an error at once, but the hub sees the request after its release."""
    sprung: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the hub has answered a late request."""


async def all_sprung(traps: list[Trap]) -> None:
    """Wait until each trap holds its request."""
    async with asyncio.timeout(patience()):
        await asyncio.gather(*(trap.sprung.wait() for trap in traps))


async def all_arrived(traps: list[Trap]) -> None:
    """Release late requests, and wait until the hub has answered them."""
    release(traps)
    async with asyncio.timeout(patience()):
        await asyncio.gather(*(trap.arrived.wait() for trap in traps))


def release(traps: list[Trap]) -> None:
    """Release everything that is held."""
    for trap in traps:
        trap.released.set()


class FaultProxy:
    """A proxy that serves plain HTTP on the loopback address; `kubeconfig` points to it."""

    def __init__(self, server: Upstream, *, kubeconfig: Path, seed: int) -> None:
        self._server = server
        self._port = ports.choose()
        self._random = random.Random(seed)
        self._watches: dict[asyncio.Task[Any], float] = {}
        self._late: set[asyncio.Task[None]] = set()
        self._traps: list[Trap] = []
        self._open = asyncio.Event()
        self._open.set()
        self._cleanly = False
        self.kubeconfig = kubeconfig
        self.faults = Faults()
        self.done: Counter[str] = Counter()
        """Number of faults of each kind; `gone` counts answers of the hub with code 410."""

    @classmethod
    @asynccontextmanager
    async def between(cls, server: Upstream, *, kubeconfig: Path, seed: int) -> AsyncIterator[Self]:
        """Run a proxy between the hub and the clients that use `kubeconfig`."""
        proxy = cls(server, kubeconfig=kubeconfig, seed=seed)
        url = f"http://{ports.LOOPBACK}:{proxy._port}"
        write_kubeconfig(
            kubeconfig, cluster="hub", url=url, authority=server.authority, token=server.token
        )
        connector = aiohttp.TCPConnector(
            ssl=ssl.create_default_context(cafile=server.authority), limit=0
        )
        async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as session:
            application = web.Application(client_max_size=64 << 20)
            application.router.add_route("*", "/{path:.*}", proxy._handler(session))
            runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
            await runner.setup()
            listening = socket.create_server((ports.LOOPBACK, proxy._port))
            await web.SockSite(runner, listening).start()
            try:
                yield proxy
            finally:
                await _accept_no_more(listening)
                proxy.break_watches()
                for writing in proxy._late:
                    writing.cancel()
                await runner.cleanup()

    def break_watches(self) -> None:
        """Break off every watch that is open."""
        for watch in self._watches:
            watch.cancel()

    def watched_for(self) -> float:
        """Return the seconds for which the newest watch has been open; 0 without one."""
        now = asyncio.get_running_loop().time()
        return min((now - begun for begun in self._watches.values()), default=0)

    @asynccontextmanager
    async def no_watches(self, *, cleanly: bool = False) -> AsyncIterator[None]:
        """End all watches, and let none through until the context ends.

        Watches that end cleanly are resumed from their last version; the others start again with a
        list.
        """
        self._open.clear()
        self._cleanly = cleanly
        self.break_watches()
        try:
            yield
        finally:
            self._open.set()

    def trap(
        self,
        matches: Callable[[web.Request], bool],
        *,
        carried_out: bool = False,
        late: bool = False,
    ) -> Trap:
        """Hold the next request that matches."""
        self._traps.append(Trap(matches, carried_out, late))
        return self._traps[-1]

    # -- one request -----------------------------------------------------------------------

    def _handler(self, session: aiohttp.ClientSession) -> Callable[[web.Request], Any]:
        async def handle(request: web.Request) -> web.StreamResponse:
            try:
                return await self._handle(request, session)
            except (aiohttp.ClientError, OSError):
                return self._broken(request)

        return handle

    async def _handle(
        self, request: web.Request, session: aiohttp.ClientSession
    ) -> web.StreamResponse:
        await asyncio.sleep(self._random.random() * self.faults.longest_delay.total_seconds())
        if request.query.get("watch") == "true":
            return await self._watch(request, session)
        for trap in self._traps:
            if trap.matches(request):
                self._traps.remove(trap)
                return await self._keep(request, session, trap)
        if request.method in WRITES:
            if self._random.random() < self.faults.refused:
                return self._refuse(self._random.choice(self.faults.answers))
            if self._random.random() < self.faults.lost:
                await self._pass_on(request, session)
                self.done["lost"] += 1
                return self._broken(request)
            if self._random.random() < self.faults.late:
                await self._put_off(request, session)
                return self._broken(request)
        return await self._pass_on(request, session)

    def _refuse(self, code: int) -> web.Response:
        self.done[str(code)] += 1
        reason = REASONS[code]
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code} | {
            "reason": reason,
            "message": f"made up by the test: {reason}",
        }
        headers = {"Retry-After": "1"} if code == 429 else {}
        return web.json_response(status, status=code, headers=headers)

    def _broken(self, request: web.Request) -> web.Response:
        """End the connection without an answer."""
        if request.transport is not None:
            request.transport.abort()
        return web.Response()

    async def _put_off(
        self, request: web.Request, session: aiohttp.ClientSession, *, until: Trap | None = None
    ) -> None:
        """Carry the write out after its sender has given up: later, or when a trap is released."""
        await request.read()  # while the connection is still open
        writing = asyncio.create_task(self._carry_out_later(request, session, until))
        self._late.add(writing)
        writing.add_done_callback(self._late.discard)

    async def _carry_out_later(
        self, request: web.Request, session: aiohttp.ClientSession, until: Trap | None
    ) -> None:
        if until is not None:
            await until.released.wait()
        else:
            await asyncio.sleep(self._random.random() * self.faults.latest.total_seconds())
        with contextlib.suppress(aiohttp.ClientError, OSError):
            await self._pass_on(request, session)
            self.done["late"] += 1
        if until is not None:
            until.arrived.set()

    async def _keep(
        self, request: web.Request, session: aiohttp.ClientSession, trap: Trap
    ) -> web.StreamResponse:
        if trap.carried_out:
            await self._pass_on(request, session)
        if trap.late:
            await self._put_off(request, session, until=trap)
        trap.sprung.set()
        if not trap.late:
            await trap.released.wait()
        return self._broken(request)

    async def _pass_on(
        self, request: web.Request, session: aiohttp.ClientSession
    ) -> web.StreamResponse:
        async with self._asked(request, session, data=await request.read()) as answer:
            body = await answer.read()
            if answer.status == 410:
                self.done["gone"] += 1
            return web.Response(status=answer.status, headers=_kept(answer.headers), body=body)

    @asynccontextmanager
    async def _asked(
        self, request: web.Request, session: aiohttp.ClientSession, *, data: bytes | None = None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        url = self._server.url + request.raw_path
        headers = _kept(request.headers)
        async with session.request(
            request.method,
            URL(url, encoded=True),
            headers=headers,
            data=data or None,
            timeout=aiohttp.ClientTimeout(total=None),
        ) as answer:
            yield answer

    # -- watches ---------------------------------------------------------------------------

    async def _watch(
        self, request: web.Request, session: aiohttp.ClientSession
    ) -> web.StreamResponse:
        await self._open.wait()
        streaming = asyncio.create_task(self._stream(request, session))
        self._watches[streaming] = asyncio.get_running_loop().time()
        streaming.add_done_callback(self._watches.pop)
        try:
            async with asyncio.timeout(self._watch_time()):
                return await asyncio.shield(streaming)
        except (TimeoutError, asyncio.CancelledError):
            streaming.cancel()
            self.done["watch"] += 1
            return self._broken(request)

    def _watch_time(self) -> float | None:
        longest = self.faults.longest_watch
        return self._random.random() * longest.total_seconds() if longest else None

    async def _stream(
        self, request: web.Request, session: aiohttp.ClientSession
    ) -> web.StreamResponse:
        async with self._asked(request, session) as answer:
            response = web.StreamResponse(status=answer.status, headers=_kept(answer.headers))
            await response.prepare(request)
            if answer.status == 410:
                self.done["gone"] += 1
            try:
                async for line in answer.content:
                    if _GONE in line:
                        self.done["gone"] += 1
                    await response.write(line * self.faults.copies)
            except asyncio.CancelledError:
                if not self._cleanly:
                    raise
            return response


async def _accept_no_more(listening: socket.socket) -> None:
    """Accept no more connections, before the server is closed.

    Until Python 3.12, asyncio leaks a connection that it has accepted but not served yet when its
    server is closed, and a later test then gets the warning.
    """
    asyncio.get_running_loop().remove_reader(listening)
    await asyncio.sleep(0)


def _kept(headers: Any) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _HOP_BY_HOP}
