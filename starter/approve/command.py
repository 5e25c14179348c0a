"""`fleetgate approve`."""

import asyncio

import click

from planning.runs.gates import GateSide
from starter import people
from starter.acting import by_option, comment_option
from starter.approve.giving import Desk
from starter.approve.several import approve_all
from starter.completion import live
from starter.consent import yes_option
from starter.helping import examples
from starter.options import target_options
from starter.patience import Patience, wait_options
from starter.run.reading import read_unfinished
from starter.targets import Target
from workflows.messages import Approve


@click.command(
    epilog=examples(
        "fleetgate approve example-run",
        "fleetgate approve example-run canary --before",
        'fleetgate approve web-app-rollout prod --after -n my-app-namespace --comment "looks good"',
        "fleetgate approve --all-pending",
    )
)
@click.argument("run", default="", shell_complete=live.waiting_runs)
@click.argument("stage", default="", shell_complete=live.pending_stages)
@click.option(
    "--before", "side", flag_value=str(GateSide.BEFORE), help="The gate before the stage."
)
@click.option("--after", "side", flag_value=str(GateSide.AFTER), help="The gate after the stage.")
@click.option("--all-pending", is_flag=True, help="Approve all open gates, of RUN or of all runs.")
@yes_option
@by_option
@comment_option
@wait_options
@target_options
def approve(
    target: Target,
    patience: Patience,
    run: str,
    stage: str,
    side: str | None,
    all_pending: bool,
    yes: bool,
    by: str | None,
    comment: str,
) -> None:
    """Approve the gate before or after a stage of a run.

    STAGE and the side can be omitted if the run waits for only one approval. Waits until clusters
    start or the run reaches the next gate, and prints which.
    """
    wanted = Approve(
        stage=stage, side=GateSide(side) if side else None, by=by or "", comment=comment
    )
    if all_pending and (stage or side):
        raise click.UsageError("specify a stage or --all-pending, not both")
    if not (run or all_pending):
        raise click.UsageError("specify a run, or --all-pending for all runs")
    asyncio.run(_approve(target, patience, run, wanted, all_pending=all_pending, yes=yes))


async def _approve(
    target: Target,
    patience: Patience,
    name: str,
    wanted: Approve,
    *,
    all_pending: bool,
    yes: bool,
) -> None:
    async with await target.connect() as hub:
        desk = Desk(hub, target, patience)
        run = await read_unfinished(hub, target, name) if name else None
        by = people.signature(await people.user_of(hub), wanted.by)
        wanted = wanted.model_copy(update={"by": by})
        if run is None or all_pending:
            await approve_all(desk, run, wanted, yes=yes)
        else:
            click.echo(await desk.give(run, wanted))
            for line in await desk.follow(run):
                click.echo(line)
