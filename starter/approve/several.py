"""Approving all open gates, after listing them and asking for confirmation."""

import asyncio

import click

from api.runs import UpdateRun
from hub import HubError
from planning.runs import views
from planning.runs.gates import PendingApproval
from starter import consent, failures, words
from starter.approve.giving import Desk
from starter.failures import Failure
from workflows.messages import Approve


async def approve_all(desk: Desk, run: UpdateRun | None, message: Approve, *, yes: bool) -> None:
    """Approve all open gates of a run, or of all runs in the scope.

    Raises Failure if the person declines, or a run does not pass its gate.
    """
    runs = [run] if run else await _runs(desk)
    pending = [(each, gate) for each in runs for gate in views.of(each).gates.approvals]
    if not pending:
        click.echo(
            f"{f'run {run.metadata.name} is not' if run else 'no run is'} waiting for an approval"
        )
        return
    for each, gate in pending:
        click.echo(f"{each.metadata.name} waits for {gate}")
    consent.ask(f"Approve {words.count(len(pending), 'gate')}?", yes=yes)
    through = await asyncio.gather(*(_open(desk, *each, message) for each in pending))
    if not all(through):
        failed, total = through.count(False), words.count(len(through), "run")
        raise Failure(f"{failed} of {total} did not continue; see the errors above")


async def _runs(desk: Desk) -> list[UpdateRun]:
    found = await desk.hub.list(desk.target.scope.run, namespace=desk.target.namespace)
    return [UpdateRun.from_wire(each) for each in found.items]


async def _open(desk: Desk, run: UpdateRun, gate: PendingApproval, message: Approve) -> bool:
    """Approve one gate, print what happens next, and return whether that succeeded."""
    name = run.metadata.name
    wanted = message.model_copy(update={"stage": gate.stage, "side": gate.side})
    try:
        click.echo(f"{name}: {await desk.give(run, wanted)}")
        for line in await desk.follow(run):
            click.echo(f"{name}: {line}")
    except (Failure, HubError) as error:
        click.echo(f"{name}: error: {failures.explain(error)}", err=True)
        return False
    return True
