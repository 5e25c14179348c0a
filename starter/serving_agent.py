"""Running the agent of one member cluster until a signal stops it."""

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import click
from prometheus_client import CollectorRegistry

from agent import Agent, AgentError, AgentMetrics, AgentSettings
from hub import BOUNDS, BadConfiguration, Hub, allow_many_files
from telemetry import (
    HUB_OF_AGENT,
    MEMBER_OF_AGENT,
    AddressError,
    LogFormat,
    ProcessHealth,
    configure_logging,
    process_registry,
    register_client,
    register_readiness,
    serve_health,
)


def run(
    member: str,
    hub_kubeconfig: Path,
    member_kubeconfig: Path | None,
    *,
    collect_namespaces: bool,
    address: str,
) -> None:
    """Run an agent until SIGTERM or SIGINT. Raises ClickException for what an operator can fix."""
    configure_logging(LogFormat.TEXT if sys.stderr.isatty() else LogFormat.JSON)
    allow_many_files()
    settings = AgentSettings(collect_namespaces=collect_namespaces)
    try:
        asyncio.run(serve(member, hub_kubeconfig, member_kubeconfig, settings, address=address))
    except (AddressError, AgentError, BadConfiguration) as error:
        raise click.ClickException(str(error)) from error


async def serve(
    member: str,
    hub_kubeconfig: Path,
    member_kubeconfig: Path | None,
    settings: AgentSettings,
    *,
    address: str = "",
) -> None:
    """Run an agent until SIGTERM or SIGINT; serve its health and metrics if there is an address.

    Raises AddressError, AgentError or BadConfiguration.
    """
    registry = process_registry()
    async with _clients(hub_kubeconfig, member_kubeconfig) as (hub, cluster):
        served = Agent(
            member=member,
            hub=hub,
            cluster=cluster,
            settings=settings,
            metrics=AgentMetrics(registry),
        )
        register_client(registry, hub, bounds=BOUNDS, server=HUB_OF_AGENT)
        register_client(registry, cluster, bounds=BOUNDS, server=MEMBER_OF_AGENT)
        async with _shown(served, address, registry):
            running = asyncio.create_task(served.run())
            _stop_on_signals(running)
            try:
                await running
            except asyncio.CancelledError:
                logging.getLogger(__name__).info("agent of member %s has stopped", member)


@asynccontextmanager
async def _shown(served: Agent, address: str, registry: CollectorRegistry) -> AsyncIterator[None]:
    health = ProcessHealth(hung=served.hung, missing=served.missing)
    # Set at once: as long as something is missing, Health does not count the agent as ready.
    health.ready = True
    register_readiness(registry, health, name="fleetgate_agent_ready")
    if not address:
        yield
        return
    async with serve_health(address, health, registry):
        yield


@asynccontextmanager
async def _clients(
    hub_kubeconfig: Path, member_kubeconfig: Path | None
) -> AsyncIterator[tuple[Hub, Hub]]:
    async with (
        await Hub.connect(hub_kubeconfig, manager="fleetgate-agent") as hub,
        await Hub.connect(member_kubeconfig, manager="fleetgate-agent") as cluster,
    ):
        yield hub, cluster


def _stop_on_signals(running: asyncio.Task[None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, running.cancel)
