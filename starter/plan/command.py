"""`fleetgate plan`."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from api.runs import UpdateRunSpec
from planning.identity import RunRef
from starter import output
from starter.failures import Failure
from starter.helping import examples
from starter.plan import differences, manifests, showing
from starter.plan.drafting import Draft, draft
from starter.targets import Target, target_options


@click.command(
    epilog=examples(
        "fleetgate plan example-placement example-strategy",
        "fleetgate plan example-placement example-strategy --index 0 --diff",
        "fleetgate plan -f run.yaml",
    )
)
@click.argument("placement", required=False)
@click.argument("strategy", required=False)
@click.option("--index", default="", help="Resource snapshot to plan with [default: a new one].")
@click.option(
    "-f",
    "--filename",
    type=click.Path(path_type=Path, dir_okay=False, exists=True, allow_dash=True),
    help="Plan the update run of a manifest; - reads standard input.",
)
@click.option("--diff", is_flag=True, help="Show what changes against what the clusters have now.")
@target_options
def plan(
    target: Target,
    placement: str | None,
    strategy: str | None,
    index: str,
    filename: Path | None,
    diff: bool,
) -> None:
    """Show what a run would do: stages, waves, gates, waits, and what changes. Writes nothing.

    Exit code 0 only if a run would be initialized.
    """
    target, spec = _asked_for(target, placement, strategy, index, filename)
    asyncio.run(_plan(target, spec, diff=diff))


def _asked_for(
    target: Target,
    placement: str | None,
    strategy: str | None,
    index: str,
    filename: Path | None,
) -> tuple[Target, UpdateRunSpec]:
    if filename is not None:
        if placement or strategy or index:
            raise click.UsageError("name a placement and a strategy, or a file, but not both")
        run = manifests.read(filename)
        return replace(target, namespace=manifests.namespace(run, target.namespace)), run.spec
    if not (placement and strategy):
        raise click.UsageError("name a placement and a strategy, or a manifest with -f")
    spec = UpdateRunSpec(
        placement_name=placement,
        staged_rollout_strategy_name=strategy,
        resource_snapshot_index=index,
    )
    return target, spec


async def _plan(target: Target, spec: UpdateRunSpec, *, diff: bool) -> None:
    run = RunRef(scope_name=target.scope.name, namespace=target.namespace, name="plan", uid="")
    async with await target.connect() as hub:
        made = await draft(hub, run, spec)
    _print(output.console(), made, _changes(made, whole=diff), namespace=target.namespace)


def _changes(made: Draft, *, whole: bool) -> list[tuple[str, list[str]]]:
    """For each version that clusters have now: what changes there."""
    if made.content is None:
        return []
    compare = differences.between if whole else differences.summary
    new = made.content.resources
    return [(index, compare(made.versions[index], new)) for index in sorted(made.versions)]


def _print(
    console: Console, made: Draft, changes: list[tuple[str, list[str]]], *, namespace: str
) -> None:
    console.print(showing.headline(made))
    if showing.stages(made):
        console.print()
        console.print(showing.table(made, width=console.width))
        console.print()
        console.print(showing.totals(made))
    for line in _described(made, changes):
        console.print(line, markup=False)
    if made.problem:
        raise Failure(
            f"a run would not be initialized: {showing.problem(made)}",
            advice="mend that and plan again; nothing was written",
        )
    console.print("\nNext:", *(f"  {line}" for line in showing.advice(made, namespace)), sep="\n")


def _described(made: Draft, changes: list[tuple[str, list[str]]]) -> Iterator[str]:
    for index, lines in changes:
        clusters = sorted(name for name, has in made.has_now.items() if has == index)
        what = f"snapshot {index}" if index else "nothing"
        yield f"\n{len(clusters)} of the bound clusters have {what}:"
        yield from (f"  {line}" for line in lines or ["no change"])
