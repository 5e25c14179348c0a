"""`fleetgate run start` and `fleetgate run stop`."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

import click

from api.runs import RunState, UpdateRun
from hub import Hub
from planning.runs import lifecycle, steering
from planning.runs.gates import PendingApproval
from planning.runs.phases import Phase
from starter import people
from starter.acting import Written, act, by_option, comment_option
from starter.completion import live
from starter.failures import Failure
from starter.helping import examples
from starter.options import target_options
from starter.patience import Patience, wait_options
from starter.run.reading import read_unfinished
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
    """Start a planned run, or resume a stopped one.

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
        await ask_for(state, hub, target, run, message)
        if patience.wait:
            waiting = Waiting(hub, target, patience.timeout)
            for line in await _EFFECTS[state](waiting, run):
                click.echo(line)


async def ask_for(
    state: RunState, hub: Hub, target: Target, run: UpdateRun, message: ChangeState
) -> None:
    """Ask a run for a state and print its answer. Raises Failure if it refuses."""
    by = people.signature(await people.user_of(hub), message.by)

    async def write(_: PendingApproval | None) -> Written:
        return await _write(hub, target, run, state, message.model_copy(update={"by": by}))

    click.echo(await act(target, run, _UPDATES[state], write=write))


async def _stopped(waiting: Waiting, run: UpdateRun) -> Sequence[str]:
    view = await waiting.until_stopped(run)
    text = stopped(view, datetime.now(UTC))
    if view.phase is Phase.FAILED:
        raise Failure(text)
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
        told = message.model_copy(update={"generation": metadata.generation})
        return Written(told, f"spec.state is already {state}", done)
    written = await hub.patch(
        target.scope.run,
        metadata.name,
        steering.change(metadata, state, by=message.by, comment=message.comment),
        namespace=target.namespace,
    )
    told = message.model_copy(update={"generation": written["metadata"]["generation"]})
    text = f"set spec.state to {state}; a worker will act on it"
    return Written(told, text, done)
