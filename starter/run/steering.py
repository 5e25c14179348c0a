"""`fleetgate run start`, `fleetgate run stop` and `fleetgate run delete`."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

import click

from api.rollout_decisions import Decision
from api.runs import RunState, UpdateRun
from hub import Hub
from planning.runs import lifecycle, steering, views
from planning.runs.gates import PendingApproval
from planning.runs.phases import Phase, phase
from starter import output, people, words
from starter.acting import Written, act, by_option, comment_option
from starter.completion import live
from starter.failures import CommandFailure
from starter.helping import examples
from starter.options import confirm, target_options, yes_option
from starter.patience import Patience, wait_options
from starter.run.deciding import decide
from starter.run.reading import read, read_unfinished
from starter.run.waiting import Waiting, stopped
from starter.targets import Target
from workflows.messages import ChangeState

_UPDATES = {RunState.RUN: "resume", RunState.STOP: "pause"}


@click.command(
    epilog=examples(
        "fleetgate run start example-run",
        'fleetgate run start web-app-rollout -n my-app-namespace --comment "window is open"',
    )
)
@click.argument("name", shell_complete=live.unfinished_runs)
@by_option
@comment_option
@wait_options
@target_options
def start(target: Target, patience: Patience, name: str, by: str | None, comment: str) -> None:
    """Start a planned run, resume a stopped one, or continue one that its policy has paused.

    Waits until clusters start or the run reaches a gate, and prints which.
    """
    message = ChangeState(by=by or "", comment=comment)
    asyncio.run(_steer(target, name, RunState.RUN, message, patience))


@click.command(
    epilog=examples(
        'fleetgate run stop example-run --comment "error rate is up"',
        "fleetgate run stop example-run --no-wait",
    )
)
@click.argument("name", shell_complete=live.unfinished_runs)
@by_option
@comment_option
@wait_options
@target_options
def stop(target: Target, patience: Patience, name: str, by: str | None, comment: str) -> None:
    """Stop a run: clusters in flight finish, no others start.

    Waits for the clusters in flight, and prints how far the run got.
    """
    message = ChangeState(by=by or "", comment=comment)
    asyncio.run(_steer(target, name, RunState.STOP, message, patience))


async def _steer(
    target: Target, name: str, state: RunState, message: ChangeState, patience: Patience
) -> None:
    async with await target.connect() as hub:
        run = await read_unfinished(hub, target, name)
        if state is RunState.RUN and phase(run.status) is Phase.PAUSED:
            reason = message.comment or "continued with fleetgate run start"
            click.echo(await decide(hub, target, run, Decision.CONTINUE, reason=reason))
        else:
            await ask_for(state, hub, target, run, message)
        if patience.wait:
            waiting = Waiting(hub, target, patience.timeout)
            for line in await _EFFECTS[state](waiting, run):
                click.echo(line)


async def ask_for(
    state: RunState, hub: Hub, target: Target, run: UpdateRun, message: ChangeState
) -> None:
    """Ask a run for a state and print its answer. Raises CommandFailure if it refuses."""
    by = people.signature(await people.user_of(hub), message.by)

    async def write(_: PendingApproval | None) -> Written:
        return await _write(hub, target, run, state, message.model_copy(update={"by": by}))

    click.echo(await act(target, run, _UPDATES[state], write=write))


async def _stopped(waiting: Waiting, run: UpdateRun) -> Sequence[str]:
    view = await waiting.until_stopped(run)
    text = stopped(view, datetime.now(UTC))
    if view.phase is Phase.FAILED:
        raise CommandFailure(text)
    return [text]


_EFFECTS: dict[RunState, Callable[[Waiting, UpdateRun], Awaitable[Sequence[str]]]] = {
    RunState.RUN: Waiting.until_under_way,
    RunState.STOP: _stopped,
}


async def _write(
    hub: Hub, target: Target, run: UpdateRun, state: RunState, message: ChangeState
) -> Written:
    metadata = run.metadata
    done = lifecycle.answer(state, run=metadata.name, in_flight=0)
    if run.spec.state is state:
        sent = message.model_copy(update={"generation": metadata.generation})
        return Written(sent, f"spec.state is already {state}", done)
    written = await hub.patch(
        target.scope.run,
        metadata.name,
        steering.change(metadata, state, by=message.by, comment=message.comment),
        namespace=target.namespace,
    )
    sent = message.model_copy(update={"generation": written["metadata"]["generation"]})
    text = f"set spec.state to {state}; a worker will act on it"
    return Written(sent, text, done)


# -- fleetgate run delete ------------------------------------------------------------------


@click.command(
    epilog=examples(
        "fleetgate run delete example-run example-run-2",
        "fleetgate run delete web-app-rollout -n my-app-namespace --yes",
    )
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=live.runs)
@yes_option
@wait_options
@target_options
def delete(target: Target, patience: Patience, names: tuple[str, ...], yes: bool) -> None:
    """Delete runs and their approval requests, and wait until they are gone.

    Nothing is rolled back: updated clusters keep what they have, and the others stay as they are.
    Asks for confirmation if a run is active.
    """
    asyncio.run(_delete(target, patience, list(dict.fromkeys(names)), yes=yes))


async def _delete(target: Target, patience: Patience, names: list[str], *, yes: bool) -> None:
    kind, namespace = target.scope.run, target.namespace
    async with await target.connect() as hub:
        # Read all of them first, so that nothing is deleted if one name is wrong.
        runs = [await read(hub, target, name) for name in names]
        _confirm([run for run in runs if lifecycle.is_active(run)], yes=yes)
        for run in runs:
            name = run.metadata.name
            await hub.delete(kind, name, namespace=namespace, uid=run.metadata.uid)
        for run in runs:
            if patience.wait:
                await Waiting(hub, target, patience.timeout).until_gone(run)
            click.echo(f"{output.resource_name(kind, run.metadata.name)} deleted")


def _confirm(active: list[UpdateRun], *, yes: bool) -> None:
    for run in active:
        where = words.sentence(views.of(run), datetime.now(UTC))
        click.echo(f"run {run.metadata.name} is active: {where}", err=True)
    if active:
        confirm(f"Delete {'it' if len(active) == 1 else 'them'} anyway?", yes=yes)
