"""`fleetgate version`: the versions of the command, the hub, Temporal and the workers."""

import asyncio
from collections.abc import Mapping
from importlib.metadata import version as version_of_package
from typing import Final

import click

from hub import HubError
from starter.helping import examples
from starter.options import target_options
from starter.targets import Target

UNREACHABLE: Final = "cannot be reached"


@click.command(
    epilog=examples("fleetgate version", "fleetgate version --client", "fleetgate version -o json")
)
@click.option("--client", is_flag=True, help="Only this command's version, without asking anyone.")
@click.option(
    "--task-queue",
    envvar="FLEETGATE_TASK_QUEUE",
    default="fleetgate",
    show_default=True,
    help="Temporal task queue of the workers  [FLEETGATE_TASK_QUEUE].",
)
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Output format.",
)
@target_options
def version(target: Target, client: bool, task_queue: str, form: str) -> None:
    """Print the versions of this command, the hub, Temporal and the workers.

    What cannot be reached says so, and why; the exit code is 0 all the same.
    """
    found = {"client": version_of_package("fleetgate")}
    if not client:
        found |= asyncio.run(_of_servers(target, task_queue))
    if form == "json":
        import json

        click.echo(json.dumps(found, indent=2))
        return
    width = max(map(len, found)) + 2
    for name, text in found.items():
        click.echo(f"{name:<{width}}{text}")


async def _of_servers(target: Target, task_queue: str) -> Mapping[str, str]:
    from starter import temporal_versions  # here, because --client must not wait for its client

    hub, (server, workers) = await asyncio.gather(
        _of_hub(target), temporal_versions.read(target, task_queue)
    )
    return {"hub": hub, "temporal": server, "workers": workers}


async def _of_hub(target: Target) -> str:
    try:
        async with await target.connect() as hub:
            return await hub.version()
    except HubError as error:
        return f"{UNREACHABLE}: {error}"
