"""Liveness, readiness and metrics of the process, over HTTP."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from aiohttp import web
from prometheus_client import CollectorRegistry, Gauge

from telemetry.metrics import exposition

Handler = Callable[[web.Request], Awaitable[web.Response]]


class AddressError(ValueError):
    """The address to listen on is not usable; the message names it and says what to do."""


class ProcessHealth:
    """State of the process, as `/healthz` and `/readyz` report it.

    A blocked event loop needs no field: while it is blocked, nothing is answered.
    """

    def __init__(
        self,
        *,
        hung: Callable[[], Sequence[str]] = tuple,
        missing: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        """Set up the checks.

        Args:
            hung: returns the names of tasks that hang, so that only a restart helps.
            missing: returns what the process needs and cannot reach now, after it was ready.
        """
        self.hung = hung
        self.missing = missing
        self.ready = False
        """Whether the process polls for work, and its watches are in sync or it stands by."""
        self.standings: dict[str, str] = {}
        """For each role with leader election: `leads`, or that it stands by and who leads."""

    def is_ready(self) -> bool:
        """Return whether the process works and can reach everything that it needs."""
        return self.ready and not self.missing()


def register_readiness(
    registry: CollectorRegistry, health: ProcessHealth, *, name: str = "fleetgate_ready"
) -> None:
    """Add a metric with the answer of `/readyz`."""
    ready = Gauge(name, "Whether the process is ready (1) or not (0)", registry=registry)
    ready.set_function(lambda: float(health.is_ready()))


@asynccontextmanager
async def serve_health(
    address: str, health: ProcessHealth, registry: CollectorRegistry | None = None
) -> AsyncIterator[None]:
    """Serve `/healthz` and `/readyz` on `host:port` while the context is open.

    With a registry, serve `/metrics` too. Raises AddressError.
    """
    host, port = _parsed(address)
    runner = web.AppRunner(_application(health, registry), access_log=None)
    await runner.setup()
    try:
        await _listen(web.TCPSite(runner, host, port), address)
        yield
    finally:
        await runner.cleanup()


async def _listen(site: web.TCPSite, address: str) -> None:
    try:
        await site.start()
    except OSError as error:
        raise AddressError(
            f"cannot listen on {address} ({error.strerror}): another process may be using it; "
            "set FLEETGATE_METRICS_ADDRESS to a free one, such as 127.0.0.1:9465"
        ) from error


def _application(health: ProcessHealth, registry: CollectorRegistry | None) -> web.Application:
    async def healthz(_: web.Request) -> web.Response:
        if hung := health.hung():
            return web.Response(text="".join(f"hung: {each}\n" for each in hung), status=503)
        return web.Response(text="ok\n")

    async def readyz(_: web.Request) -> web.Response:
        if health.is_ready():
            return web.Response(text=_told("ready", health))
        readiness = "not ready" if health.ready else "not ready yet"
        return web.Response(text=_told(readiness, health), status=503)

    application = web.Application()
    application.add_routes([web.get("/healthz", healthz), web.get("/readyz", readyz)])
    if registry is not None:
        application.add_routes([web.get("/metrics", _metrics_of(registry))])
    return application


def _told(readiness: str, health: ProcessHealth) -> str:
    standings = [f"{part} {standing}" for part, standing in sorted(health.standings.items())]
    return "".join(f"{line}\n" for line in (readiness, *health.missing(), *standings))


def _metrics_of(registry: CollectorRegistry) -> Handler:
    async def metrics(request: web.Request) -> web.Response:
        body, content_type = exposition(registry, accept=request.headers.get("Accept", ""))
        return web.Response(body=body, headers={"Content-Type": content_type})

    return metrics


def _parsed(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    number = int(port) if port.isascii() and port.isdigit() and len(port) <= 5 else 65536
    if not colon or number > 65535:
        raise AddressError(
            f"FLEETGATE_METRICS_ADDRESS is {address!r}, which is not an address: "
            "write host:port, such as 127.0.0.1:9464"
        )
    return host.strip("[]"), number
