"""`fleetgate agent`: the agent of one member cluster as a separate process."""

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

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_EXAMPLE = """\b
Example:
  fleetgate agent --member member1 --hub-kubeconfig hub.kubeconfig \\
      --member-kubeconfig member1.kubeconfig
"""


@click.command(epilog=_EXAMPLE)
@click.option("--member", required=True, help="Name of the MemberCluster.")
@click.option("--hub-kubeconfig", type=_FILE, required=True, help="Kubeconfig for the hub.")
@click.option(
    "--member-kubeconfig",
    type=_FILE,
    help="Kubeconfig for the member  [default: the pod's service account].",
)
@click.option(
    "--collect-namespaces",
    is_flag=True,
    help="Report the member's namespaces; a ResourcePlacement is then placed on the member only if "
    "it has its namespace.",
)
@click.option(
    "--metrics-address",
    envvar="FLEETGATE_METRICS_ADDRESS",
    metavar="HOST:PORT",
    default="",
    help="Address that serves /healthz, /readyz and /metrics  "
    "[FLEETGATE_METRICS_ADDRESS; default: none, because several agents may share a machine].",
)
def agent(
    member: str,
    hub_kubeconfig: Path,
    member_kubeconfig: Path | None,
    collect_namespaces: bool,
    metrics_address: str,
) -> None:
    """Run the agent for a member cluster.

    The agent applies to the member what the hub has for it, and reports back. It runs until
    SIGTERM or Ctrl-C. Members can each have an agent process of their own, or
    `fleetgate worker --run agents` can serve all of them. The rights that an agent needs are in
    deploy/rbac/member-agent-on-hub.yaml and member-agent-on-member.yaml.
    """
    configure_logging(LogFormat.TEXT if sys.stderr.isatty() else LogFormat.JSON)
    allow_many_files()
    settings = AgentSettings(collect_namespaces=collect_namespaces)
    try:
        asyncio.run(
            serve(member, hub_kubeconfig, member_kubeconfig, settings, address=metrics_address)
        )
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
