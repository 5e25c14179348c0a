"""`fleetgate run create`."""

import asyncio
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

import click

from api.base import ObjectMeta
from api.kinds import Scope
from api.runs import ClusterStagedUpdateRun, RunState, StagedUpdateRun, UpdateRun, UpdateRunSpec
from starter import output
from starter.completion import live
from starter.helping import examples
from starter.options import output_option, target_options
from starter.run import manifests
from starter.targets import Target


class DryRun(StrEnum):
    """How far a run is created."""

    NONE = "none"
    CLIENT = "client"
    SERVER = "server"


@click.command(
    epilog=examples(
        "fleetgate run create v2 --placement web-app --strategy canary-first --state Run",
        "fleetgate run create back --placement web-app --strategy canary-first --index 0",
        "fleetgate run create v3 --placement web-app --strategy canary-first -n my-app",
        "fleetgate run create v4 --placement web-app --strategy all --dry-run=client -o yaml",
        "fleetgate run create -f run.yaml",
    )
)
@click.argument("name", required=False, default="")
@click.option(
    "--placement", default="", shell_complete=live.placements, help="Placement to roll out."
)
@click.option(
    "--strategy",
    default="",
    shell_complete=live.strategies,
    help="Strategy that defines the stages and their gates.",
)
@click.option(
    "--index",
    default="",
    shell_complete=live.indexes,
    help="Index of the resource snapshot to roll out; an older one rolls back  [default: the hub's "
    "content as it is now].",
)
@click.option(
    "--state",
    type=click.Choice([str(each) for each in RunState]),
    help="Initialize only plans the run, so that you can check it first; Run starts it at once  "
    "[default: Initialize].",
)
@click.option(
    "-f",
    "--filename",
    type=click.Path(path_type=Path, dir_okay=False, exists=True, allow_dash=True),
    help="Create the update run in a manifest; - reads standard input.",
)
@click.option(
    "--dry-run",
    type=click.Choice([str(each) for each in DryRun]),
    default=str(DryRun.NONE),
    show_default=True,
    help="Create nothing: client only prints the object, server has the hub check it too.",
)
@output_option
@target_options
def create(
    target: Target,
    name: str,
    placement: str,
    strategy: str,
    index: str,
    state: str | None,
    filename: Path | None,
    dry_run: str,
) -> None:
    """Create an update run, from options or from a manifest."""
    if filename is not None:
        if name or placement or strategy or index or state:
            raise click.UsageError("specify either a name and options, or a file with -f")
        run = manifests.read(filename)
        target = replace(target, namespace=manifests.namespace(run, target.namespace))
        if target.namespace:
            run.metadata.namespace = target.namespace
    else:
        given = {"NAME": name, "--placement": placement, "--strategy": strategy}
        if missing := [each for each, value in given.items() if not value]:
            raise click.UsageError(f"specify {', '.join(missing)}, or a file with -f")
        spec = UpdateRunSpec(
            placement_name=placement,
            staged_rollout_strategy_name=strategy,
            state=RunState(state or RunState.INITIALIZE),
        )
        if index:
            spec.resource_snapshot_index = index
        run = body(target.scope, name, target.namespace, spec)
    asyncio.run(_create(target, run, DryRun(dry_run)))


def body(scope: Scope, name: str, namespace: str, spec: UpdateRunSpec) -> UpdateRun:
    """Make the object of a run, without writing it to the hub."""
    model = StagedUpdateRun if scope.run.namespaced else ClusterStagedUpdateRun
    metadata = ObjectMeta(name=name, namespace=namespace) if namespace else ObjectMeta(name=name)
    return model(metadata=metadata, spec=spec)


async def _create(target: Target, run: UpdateRun, dry_run: DryRun) -> None:
    kind, made = target.scope.run, run.to_wire()
    if dry_run is not DryRun.CLIENT:
        async with await target.connect() as hub:
            made = await hub.create(
                kind, made, namespace=target.namespace, dry_run=dry_run is DryRun.SERVER
            )
    if target.output.is_table:
        only = "" if dry_run is DryRun.NONE else f" ({dry_run} dry run)"
        click.echo(f"{output.name_of(made)} created{only}")
    else:
        output.print_objects([made], target, single=True)
