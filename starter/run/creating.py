"""`fleetgate run create`."""

import asyncio

import click

from api.base import ObjectMeta
from api.kinds import Scope
from api.runs import ClusterStagedUpdateRun, RunState, StagedUpdateRun, UpdateRun, UpdateRunSpec
from starter import output
from starter.completion import live
from starter.helping import examples
from starter.options import output_option, target_options
from starter.targets import Output, Target


@click.command(
    epilog=examples(
        "fleetgate run create v2 --placement web-app --strategy canary-first --state Run",
        "fleetgate run create back --placement web-app --strategy canary-first --index 0",
        "fleetgate run create v3 --placement web-app --strategy canary-first -n my-app",
    )
)
@click.argument("name")
@click.option(
    "--placement", required=True, shell_complete=live.placements, help="Placement to roll out."
)
@click.option(
    "--strategy",
    required=True,
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
    default=str(RunState.INITIALIZE),
    show_default=True,
    help="Initialize only plans the run, so that you can check it first; Run starts it at once.",
)
@output_option
@target_options
def create(
    target: Target, name: str, placement: str, strategy: str, index: str, state: str
) -> None:
    """Create an update run."""
    spec = UpdateRunSpec(
        placement_name=placement,
        staged_rollout_strategy_name=strategy,
        resource_snapshot_index=index,
        state=RunState(state),
    )
    asyncio.run(_create(target, body(target.scope, name, target.namespace, spec)))


def body(scope: Scope, name: str, namespace: str, spec: UpdateRunSpec) -> UpdateRun:
    """Make the object of a run, without writing it to the hub."""
    model = StagedUpdateRun if scope.run.namespaced else ClusterStagedUpdateRun
    return model(metadata=ObjectMeta(name=name, namespace=namespace), spec=spec)


async def _create(target: Target, run: UpdateRun) -> None:
    kind = target.scope.run
    async with await target.connect() as hub:
        made = await hub.create(kind, run.to_wire(), namespace=target.namespace)
    if target.output in {Output.TABLE, Output.WIDE}:
        click.echo(f"{output.resource_name(kind, run.metadata.name)} created")
    else:
        output.print_objects(kind, [made], target.output, single=True)
