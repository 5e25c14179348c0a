"""`fleetgate approve`: approves one gate, or all open ones."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import click

from api.approvals import BaseApprovalRequest
from api.runs import UpdateRun
from hub import Hub, HubError
from planning.runs import approvals, phases, views
from planning.runs.gates import GateSide, PendingApproval
from planning.runs.phases import Phase
from planning.runs.views import RunView
from starter import failures, people, words
from starter.acting import Written, act, by_option, comment_option
from starter.completion import live
from starter.failures import CommandFailure
from starter.helping import examples
from starter.options import confirm, target_options, yes_option
from starter.patience import Patience, wait_options
from starter.run.reading import read_unfinished
from starter.run.waiting import Waiting
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


# -- one approval --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Desk:
    """Gives approvals on one hub, and follows the approved runs."""

    hub: Hub
    target: Target
    patience: Patience

    async def give(self, run: UpdateRun, wanted: Approve) -> str:
        """Approve the open gate that matches, and return the answer.

        Raises CommandFailure if no open gate matches, or several do.
        """
        view = views.of(run)
        gate = choose(view, wanted)
        if gate:
            wanted = wanted.model_copy(update={"stage": gate.stage, "side": gate.side})

        async def write(known: PendingApproval | None) -> Written:
            # The workflow may have just opened a gate that the run's status does not show yet.
            open_gate = known or gate
            if open_gate is None:
                raise none_open(view, wanted)
            place = {"stage": open_gate.stage, "side": open_gate.side}
            return await self._write(open_gate.request, wanted.model_copy(update=place))

        return await act(self.target, run, "approve", wanted, write=write)

    async def follow(self, run: UpdateRun) -> Sequence[str]:
        """Wait until the run has passed the gate, and return what it does next as lines."""
        # A stopped run passes the gate only once it is started again (contract: update-runs 10.3).
        if phases.phase(run.status) in {Phase.STOPPING, Phase.STOPPED} or not self.patience.wait:
            return []
        before = views.of(run).gates.approved
        waiting = Waiting(self.hub, self.target, self.patience.timeout)
        return await waiting.until_under_way(
            run, also=lambda view: view.phase in phases.ENDED or view.gates.approved > before
        )

    async def _write(self, name: str, message: Approve) -> Written:
        """Write the approval to its request, as people do with kubectl."""
        kind, namespace = self.target.scope.approval, self.target.namespace
        sent = message.model_copy(update={"on_object": True})
        done = f"stage {message.stage} ({message.side}) is approved"
        body = await self.hub.get(kind, name, namespace=namespace)
        request = BaseApprovalRequest.from_wire(body)
        if approvals.approved(request):
            return Written(sent, f"{kind} {name} is already approved", done)
        condition = approvals.approval(
            request, by=message.by, comment=message.comment, now=datetime.now(UTC)
        )
        metadata = {"name": name, "namespace": namespace, "uid": body["metadata"]["uid"]}
        status = {"conditions": [condition.to_wire()]}
        await self.hub.apply(kind, {"metadata": metadata, "status": status}, subresource="status")
        text = f"wrote the approval to {kind} {name}; a worker will process it"
        return Written(sent, text, done)


# -- the gate that is meant ----------------------------------------------------------------


def choose(view: RunView, wanted: Approve) -> PendingApproval | None:
    """Return the open gate that matches, or None. Raises CommandFailure if several match."""
    meant = [gate for gate in view.gates.approvals if _is_meant(gate, wanted)]
    if len(meant) > 1:
        raise CommandFailure(
            f"run {view.name} waits for several approvals; specify stage and side, "
            "or use --all-pending",
            advice="\n  ".join(words.approve_command(view, gate) for gate in meant),
        )
    return meant[0] if meant else None


def none_open(view: RunView, wanted: Approve) -> CommandFailure:
    """Make the failure that no open gate matches; it names the open ones."""
    if not view.gates.approvals:
        return CommandFailure(f"run {view.name} is not waiting for an approval")
    gate = f"{wanted.side or 'at'} {f'stage {wanted.stage}' if wanted.stage else 'any stage'}"
    waits = ", ".join(map(str, view.gates.approvals))
    return CommandFailure(
        f"run {view.name} is not waiting for an approval {gate}; it is waiting for: {waits}"
    )


def _is_meant(gate: PendingApproval, wanted: Approve) -> bool:
    return wanted.stage in ("", gate.stage) and wanted.side in (None, gate.side)


# -- all open gates ------------------------------------------------------------------------


async def approve_all(desk: Desk, run: UpdateRun | None, message: Approve, *, yes: bool) -> None:
    """Approve all open gates of a run, or of all runs in the scope.

    Raises CommandFailure if the person declines, or a run does not pass its gate.
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
    confirm(f"Approve {words.count(len(pending), 'gate')}?", yes=yes)
    through = await asyncio.gather(*(_open(desk, *each, message) for each in pending))
    if not all(through):
        failed, total = through.count(False), words.count(len(through), "run")
        raise CommandFailure(f"{failed} of {total} did not continue; see the errors above")


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
    except (CommandFailure, HubError) as error:
        click.echo(f"{name}: error: {failures.explain(error)}", err=True)
        return False
    return True
