"""`fleetgate plan`, for a placement and a strategy or for the manifest of a run."""

import asyncio
from dataclasses import replace
from pathlib import Path

import click

from api.runs import UpdateRunSpec
from planning.identity import RunRef
from planning.placements.selecting import SelectionRules
from starter import output
from starter.completion import live
from starter.helping import examples
from starter.options import rules_options, target_options
from starter.plan import showing
from starter.plan.drafting import draft
from starter.plan.showing import print_draft
from starter.run import manifests
from starter.targets import Target


@click.command(
    epilog=examples(
        "fleetgate plan example-placement example-strategy",
        "fleetgate plan example-placement example-strategy --index 0 --diff",
        "fleetgate plan -f run.yaml",
    )
)
@click.argument("placement", required=False, shell_complete=live.placements)
@click.argument("strategy", required=False, shell_complete=live.strategies)
@click.option(
    "--index",
    default="",
    shell_complete=live.indexes,
    help="Index of the resource snapshot to plan with  [default: the hub's content as it is now].",
)
@click.option(
    "-f",
    "--filename",
    type=click.Path(path_type=Path, dir_okay=False, exists=True, allow_dash=True),
    help="Plan the update run in a manifest; - reads standard input.",
)
@click.option("--diff", is_flag=True, help="Show line by line what changes on the clusters.")
@rules_options
@target_options
def plan(
    target: Target,
    rules: SelectionRules,
    placement: str | None,
    strategy: str | None,
    index: str,
    filename: Path | None,
    diff: bool,
) -> None:
    """Show what a run would do without creating it: stages, waves, gates, waits, and changes.

    Writes nothing. The exit code is 0 only if the run could be initialized.
    """
    target, spec = _asked_for(target, placement, strategy, index, filename)
    asyncio.run(_plan(target, spec, rules=rules, diff=diff))


def _asked_for(
    target: Target,
    placement: str | None,
    strategy: str | None,
    index: str,
    filename: Path | None,
) -> tuple[Target, UpdateRunSpec]:
    if filename is not None:
        if placement or strategy or index:
            raise click.UsageError("specify either a placement and a strategy, or a file with -f")
        run = manifests.read(filename)
        namespace = manifests.namespace(run, target.namespace)
        return replace(target, namespace=namespace), run.spec
    if not (placement and strategy):
        raise click.UsageError("specify a placement and a strategy, or a file with -f")
    spec = UpdateRunSpec(
        placement_name=placement,
        staged_rollout_strategy_name=strategy,
        resource_snapshot_index=index,
    )
    return target, spec


async def _plan(target: Target, spec: UpdateRunSpec, *, rules: SelectionRules, diff: bool) -> None:
    run = RunRef(scope_name=target.scope.name, namespace=target.namespace, name="plan", uid="")
    async with await target.connect() as hub:
        made = await draft(hub, run, spec, rules=rules)
    console = output.console()
    print_draft(console, made, target, whole=diff)
    advice = showing.advice(made, target.namespace)
    console.print("\nNext:", *(f"  {line}" for line in advice), sep="\n")
