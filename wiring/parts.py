"""The roles that a process runs, as its settings name them."""

import asyncio
import hashlib
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

from prometheus_client import CollectorRegistry
from temporalio.client import Client, Interceptor

from agent import AgentMetrics, AgentPool, AgentSettings, MemberSecrets
from bridge import Bridge, BridgeSettings
from hub import Hub, SharedCaches, Term, own_namespace
from placement.built_in import BuiltInPlacement
from placement.settings import PlacementSettings
from telemetry import TemporalMetrics, Tracing, start_tracing
from wiring import temporal
from wiring.fencing import fenced
from wiring.leading import LedPart, Make, Part, ProcessContext, Seat
from wiring.settings import PlacementKind, Role, Settings, Snapshots

MANAGER: Final = "fleetgate"
"""Field manager of the worker's writes, in packages without a field manager of their own."""
OUTSIDE: Final = "default"
"""Namespace of the Leases for processes outside a pod: every hub has it."""


async def parts_of(
    settings: Settings, context: ProcessContext, stack: AsyncExitStack
) -> list[Part]:
    """Create everything that the settings name; what has to be closed is pushed to the stack.

    An engine starts polling at once. Raises HubError or TracingError for errors that an operator
    can fix.
    """
    led = partial(_led, settings, context)
    parts: list[Part] = []
    if settings.run & {Role.ENGINE, Role.BRIDGE}:
        measured = TemporalMetrics(context.registry)
        connection = await temporal.reach(settings, measured, _traced(settings, stack))
        client, caches = connection.client, SharedCaches(context.hub)
        if Role.ENGINE in settings.run:
            engine = temporal.engine(client, context.hub, caches, settings)
            connection.serve(await stack.enter_async_context(engine))
        if Role.BRIDGE in settings.run:
            parts.append(led(Role.BRIDGE, _bridge(client, caches, settings)))
        parts += [connection, _Measuring(measured)]
    if Role.PLACEMENT in settings.run and settings.placement is PlacementKind.BUILTIN:
        parts.append(led(Role.PLACEMENT, _placement(settings)))
    if Role.AGENTS in settings.run:
        parts += await _agents(settings, led, AgentMetrics(context.registry))
    return parts


def _led(
    settings: Settings,
    context: ProcessContext,
    role: Role,
    make: Make,
    *,
    of: str = "",
    namespace: str = "",
) -> LedPart:
    """Create a part with leader election; `of` distinguishes several parts of one role."""
    namespace = (
        namespace
        or settings.lease_namespace
        or own_namespace(settings.kubeconfig, context=settings.context)
        or OUTSIDE
    )
    part = "-".join(filter(None, (role, of)))
    return LedPart(Seat(part=part, lease=f"fleetgate-{part}", namespace=namespace), make, context)


def _bridge(client: Client, caches: SharedCaches, settings: Settings) -> Make:
    bridging = BridgeSettings(
        task_queue=settings.task_queue,
        stuck_after=settings.stuck_after,
        temporal_approvals=settings.temporal_approvals,
    )

    def make(term: Term, hub: Hub, registry: CollectorRegistry) -> Part:
        teller = fenced(client, term.check)
        return Bridge(hub, teller, settings=bridging, registry=registry, caches=caches)

    return make


def _placement(settings: Settings) -> Make:
    placing = PlacementSettings(
        snapshot_on_change=settings.snapshots is Snapshots.ON_CHANGE,
        snapshot_interval=settings.snapshot_interval,
        rules=settings.rules,
    )

    def make(_: Term, hub: Hub, registry: CollectorRegistry) -> Part:
        return BuiltInPlacement(hub, settings=placing, registry=registry)

    return make


async def _agents(
    settings: Settings, led: Callable[..., LedPart], metrics: AgentMetrics
) -> list[Part]:
    """Create the agents of the members that are named, and of those that have Secrets.

    One process at a time leads for the same list of members, and one for the same Secrets.
    """
    parts: list[Part] = []
    if settings.members:
        for path in settings.members.values():
            # A wrong path is the operator's mistake and is reported at the start.
            await (await Hub.connect(path, manager=MANAGER)).close()
        named = ",".join(sorted(settings.members))
        digest = hashlib.sha256(named.encode()).hexdigest()[:8]
        parts.append(led(Role.AGENTS, partial(_NamedAgents, settings, metrics), of=digest))
    if settings.member_secrets:
        make = partial(_SecretAgents, settings, metrics)
        parts.append(led(Role.AGENTS, make, namespace=settings.member_secrets))
    return parts


class _NamedAgents:
    """Agents of the members that the settings name."""

    def __init__(
        self, settings: Settings, metrics: AgentMetrics, _: Term, hub: Hub, __: CollectorRegistry
    ) -> None:
        self._members = settings.members
        self._pool = _pool(settings, hub, metrics)

    async def run(self) -> None:
        for name, path in self._members.items():
            self._pool.start(name, partial(Hub.connect, path, manager=MANAGER))
        await self._pool.run()

    async def ready(self) -> None:
        await self._pool.ready()


class _SecretAgents:
    """Agents of the members whose kubeconfigs are in Secrets."""

    def __init__(
        self, settings: Settings, metrics: AgentMetrics, _: Term, hub: Hub, __: CollectorRegistry
    ) -> None:
        self._pool = _pool(settings, hub, metrics)
        self._secrets = MemberSecrets(hub, self._pool, namespace=settings.member_secrets)

    async def run(self) -> None:
        await asyncio.gather(self._pool.run(), self._secrets.run())

    async def ready(self) -> None:
        await asyncio.gather(self._pool.ready(), self._secrets.ready())


def _pool(settings: Settings, hub: Hub, metrics: AgentMetrics) -> AgentPool:
    agents = AgentSettings(collect_namespaces=settings.collect_namespaces)
    return AgentPool(hub, settings=agents, metrics=metrics)


class _Measuring:
    """Collects the metrics of Temporal's SDK as long as the process runs."""

    def __init__(self, measured: TemporalMetrics) -> None:
        self._measured = measured

    async def run(self) -> None:
        await self._measured.run()

    async def ready(self) -> None:
        """Return at once: there is nothing to wait for."""


def _traced(settings: Settings, stack: AsyncExitStack) -> list[Interceptor]:
    if settings.tracing is Tracing.NONE:
        return []
    tracer = start_tracing()
    stack.callback(tracer.close)
    return [tracer.interceptor]
