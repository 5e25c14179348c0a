"""The worker: reads its settings, wires the rooms together, runs until it is told to stop."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

from prometheus_client import CollectorRegistry
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from temporalio.client import Client, Interceptor
from temporalio.worker import Worker

from activities.log_fields import LogFields
from activities.registry import all_activities
from agent import AgentPool, AgentSettings, MemberSecrets
from bridge import Bridge, BridgeSettings
from hub import BOUNDS, Hub, HubError, SharedCaches
from placement import Placement, PlacementSettings
from planning import durations
from telemetry import (
    AddressError,
    Health,
    LogFormat,
    TemporalMetrics,
    Tracing,
    TracingError,
    configure_logging,
    process_registry,
    register_hub_answers,
    register_hub_requests,
    register_hub_watches,
    register_readiness,
    serve_health,
    start_tracing,
    temporal_runtime,
)
from workflows.messages import DEFAULT_STUCK_AFTER
from workflows.plugin import connect

logger = logging.getLogger(__name__)

MANAGER: Final = "fleetgate"
"""Field manager of what the worker writes, where a room has no name of its own."""
ACTIVITIES_AT_ONCE: Final = 1000
"""Slots: one for each run with clusters in flight, and a moment's worth of short effects."""
STICKY: Final = timedelta(seconds=3)
"""How long a run's next step waits for a worker that was killed before another one takes it."""
GRACE: Final = timedelta(seconds=5)
"""How long activities under way may take to end on SIGTERM; they are repeated otherwise."""
RECONNECT: Final = 1.0
"""Seconds between two tries to reach Temporal when the worker starts."""
WRONG_USAGE: Final = 2
"""Exit code for settings that cannot be used, as commands have it."""


class Role(StrEnum):
    """A part of the work that a process may do alone or with others."""

    ENGINE = "engine"
    BRIDGE = "bridge"
    PLACEMENT = "placement"
    AGENTS = "agents"


class PlacementKind(StrEnum):
    """Who makes snapshots, bindings and Works."""

    BUILTIN = "builtin"
    EXTERNAL = "external"


class Settings(BaseModel):
    """Everything an operator can set; read once, from flags and `FLEETGATE_…` variables."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: frozenset[Role] = frozenset(Role)
    """Which parts this process does; all by default, since one process serves a small fleet."""
    placement: PlacementKind = PlacementKind.BUILTIN
    """`external` leaves snapshots, bindings and Works to another system such as KubeFleet."""
    kubeconfig: Path | None = None
    """How to reach the hub; by default KUBECONFIG, or the pod's service account."""
    context: str | None = None
    """Context of the kubeconfig; its current one by default."""
    task_queue: str = Field(default="fleetgate", min_length=1)
    """Temporal task queue that workflows and activities go through."""
    stuck_after: timedelta = DEFAULT_STUCK_AFTER
    """How long a cluster may take before its run counts as stuck; 5m as KubeFleet has it."""
    metrics_address: str = "127.0.0.1:9464"
    """host:port of /metrics, /healthz and /readyz; loopback, because it has no access control."""
    log_format: LogFormat | None = None
    """`text` or `json`; by default text on a terminal and JSON elsewhere."""
    tracing: Tracing = Tracing.NONE
    """`otlp` sends traces where OpenTelemetry's own variables say."""
    members: dict[str, Path] = {}
    """Kubeconfigs of the members that this process runs the agents of: `name=path,…`."""
    member_secrets: str = ""
    """Namespace on the hub with Secrets that hold members' kubeconfigs, to run their agents too."""
    collect_namespaces: bool = False
    """Whether these agents report their members' namespaces, so that a ResourcePlacement goes only
    where its own is."""

    @classmethod
    def load(cls, environ: Mapping[str, str] = os.environ, /, **overrides: object) -> Self:
        """Read the variables, of which an empty one is none; an override that is not None wins.

        Raises ValidationError naming the field and its value.
        """
        found: dict[str, object] = {
            name: environ[variable]
            for name in cls.model_fields
            if environ.get(variable := f"FLEETGATE_{name.upper()}")
        }
        chosen = {name: value for name, value in overrides.items() if value is not None}
        return cls.model_validate(found | chosen)

    @field_validator("run", mode="before")
    @classmethod
    def _split_roles(cls, value: object) -> object:
        return [part.strip() for part in value.split(",")] if isinstance(value, str) else value

    @field_validator("members", mode="before")
    @classmethod
    def _split_members(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        pairs = [part.partition("=") for part in value.split(",") if part]
        if any(not (name and path) for name, _, path in pairs):
            raise ValueError("write name=path,name=path")
        return {name.strip(): path for name, _, path in pairs}

    @field_validator("stuck_after", mode="before")
    @classmethod
    def _parse_duration(cls, value: object) -> object:
        parsed = durations.parse(value) if isinstance(value, str) else value
        if isinstance(parsed, timedelta) and parsed <= timedelta(0):
            raise ValueError("write a duration longer than 0s, such as 5m")
        return parsed


async def serve(settings: Settings) -> None:
    """Run every part that the settings name, until SIGTERM or SIGINT.

    Raises HubError, AddressError or TracingError for what an operator can mend.
    """
    health, registry = Health(), process_registry()
    register_readiness(registry, health)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(serve_health(settings.metrics_address, health, registry))
        hub = await stack.enter_async_context(
            await Hub.connect(settings.kubeconfig, context=settings.context, manager=MANAGER)
        )
        _register_hub(registry, hub)
        parts = await _parts(settings, hub, stack, registry)
        # An engine polls in the background: a process of that alone has nothing else to wait for.
        stay = asyncio.Event().wait()
        running = asyncio.gather(*(part.run() for part in parts), _announce(parts, health), stay)
        _stop_on_signals(running)
        try:
            await running
        except asyncio.CancelledError:
            logger.info("stopping")


def _register_hub(registry: CollectorRegistry, hub: Hub) -> None:
    register_hub_requests(registry, lambda: hub.requests)
    register_hub_answers(registry, hub.answers.durations, bounds=BOUNDS)
    register_hub_watches(registry, hub.watches)


class _Part:
    """Something that runs until it is cancelled, and is ready at some point."""

    def __init__(self, run: Coroutine[Any, Any, None], ready: Coroutine[Any, Any, None]) -> None:
        self._run, self._ready = run, ready

    async def run(self) -> None:
        await self._run

    async def ready(self) -> None:
        await self._ready


async def _parts(
    settings: Settings, hub: Hub, stack: AsyncExitStack, registry: CollectorRegistry
) -> list[_Part]:
    parts = []
    if settings.run & {Role.ENGINE, Role.BRIDGE}:
        measured = TemporalMetrics(registry)
        client = await _temporal(measured, _traced(settings, stack))
        caches = SharedCaches(hub)
        if Role.ENGINE in settings.run:
            await stack.enter_async_context(_engine(client, hub, caches, settings))
        if Role.BRIDGE in settings.run:
            bridging = BridgeSettings(
                task_queue=settings.task_queue, stuck_after=settings.stuck_after
            )
            bridge = Bridge(hub, client, settings=bridging, registry=registry, caches=caches)
            parts.append(_Part(bridge.run(), bridge.ready()))
        parts.append(_Part(measured.run(), asyncio.sleep(0)))
    if Role.PLACEMENT in settings.run and settings.placement is PlacementKind.BUILTIN:
        placement = Placement(hub, settings=PlacementSettings(), registry=registry)
        parts.append(_Part(placement.run(), placement.ready()))
    if Role.AGENTS in settings.run:
        parts += await _agents(settings, hub)
    return parts


async def _agents(settings: Settings, hub: Hub) -> list[_Part]:
    if not (settings.members or settings.member_secrets):
        return []
    pool = AgentPool(hub, settings=AgentSettings(collect_namespaces=settings.collect_namespaces))
    parts = [_Part(pool.run(), pool.ready())]
    for name, path in settings.members.items():
        connect = partial(Hub.connect, path, manager=MANAGER)
        # A path that is wrong is the operator's mistake, said at the start.
        await (await connect()).close()
        pool.start(name, connect)
    if settings.member_secrets:
        secrets = MemberSecrets(hub, pool, namespace=settings.member_secrets)
        parts.append(_Part(secrets.run(), secrets.ready()))
    return parts


@asynccontextmanager
async def _engine(
    client: Client, hub: Hub, caches: SharedCaches, settings: Settings
) -> AsyncIterator[None]:
    """Poll Temporal for workflows and activities while the context is open."""
    worker = Worker(
        client,
        task_queue=settings.task_queue,
        activities=all_activities(hub, client, caches=caches),
        max_concurrent_activities=ACTIVITIES_AT_ONCE,
        sticky_queue_schedule_to_start_timeout=STICKY,
        graceful_shutdown_timeout=GRACE,
        interceptors=[LogFields()],
    )
    async with worker:
        yield


def _traced(settings: Settings, stack: AsyncExitStack) -> list[Interceptor]:
    if settings.tracing is Tracing.NONE:
        return []
    tracer = start_tracing()
    stack.callback(tracer.close)
    return [tracer.interceptor]


async def _temporal(measured: TemporalMetrics, interceptors: Sequence[Interceptor]) -> Client:
    """Connect to Temporal, waiting for it as long as it takes."""
    runtime = temporal_runtime(measured.buffer)
    while True:
        try:
            return await connect(runtime=runtime, interceptors=interceptors)
        except RuntimeError as error:
            logger.warning("Temporal does not answer, trying again: %s", error)
            await asyncio.sleep(RECONNECT)


async def _announce(parts: list[_Part], health: Health) -> None:
    await asyncio.gather(*(part.ready() for part in parts))
    health.ready = True
    logger.info("ready")


def _stop_on_signals(running: asyncio.Future[Any]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, running.cancel)


def main(**overrides: object) -> None:
    """Run a worker as a process; what an operator got wrong is one line on standard error."""
    try:
        settings = Settings.load(os.environ, **overrides)
        log_format = settings.log_format
        if log_format is None:
            log_format = LogFormat.TEXT if sys.stderr.isatty() else LogFormat.JSON
        configure_logging(log_format)
        asyncio.run(serve(settings))
    except ValidationError as error:
        for each in error.errors():
            sys.stderr.write(f"error: {_problem(each, overrides)}\n")  # There is no log yet.
        sys.exit(WRONG_USAGE)
    except (HubError, AddressError, TracingError) as error:
        sys.exit(f"error: {error}")


def _problem(error: Mapping[str, Any], overrides: Mapping[str, object]) -> str:
    """One value that cannot be used, under the name by which it was given."""
    name = str(error["loc"][0])
    by_flag = overrides.get(name) is not None
    given = f"--{name.replace('_', '-')}" if by_flag else f"FLEETGATE_{name.upper()}"
    advice = str(error["msg"]).removeprefix("Value error, ")
    return f"{given} is {error['input']!r}: {advice}"


if __name__ == "__main__":
    main()
