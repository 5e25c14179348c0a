"""`fleetgate run start` and `fleetgate run stop`."""

import asyncio

import click

from api.runs import RunState, UpdateRun
from hub import Hub
from starter import messaging, people
from starter.helping import examples
from starter.run.reading import read_unfinished
from starter.targets import Target, target_options
from workflows.messages import ChangeState

_UPDATES = {RunState.RUN: "resume", RunState.STOP: "pause"}

by_option = click.option("--by", help="Who asks  [default: the kubeconfig's user].")
comment_option = click.option("--comment", default="", help="Why; kept with the answer.")


@click.command(
    epilog=examples(
        "fleetgate run start example-run",
        'fleetgate run start web-app-rollout -n my-app-namespace --comment "window is open"',
    )
)
@click.argument("name")
@by_option
@comment_option
@target_options
def start(target: Target, name: str, by: str | None, comment: str) -> None:
    """Start a planned run, or go on with a stopped one."""
    asyncio.run(_steer(target, name, RunState.RUN, by=by, comment=comment))


@click.command(
    epilog=examples(
        'fleetgate run stop example-run --comment "error rate is up"',
    )
)
@click.argument("name")
@by_option
@comment_option
@target_options
def stop(target: Target, name: str, by: str | None, comment: str) -> None:
    """Stop a run: clusters in flight finish, no other starts."""
    asyncio.run(_steer(target, name, RunState.STOP, by=by, comment=comment))


async def _steer(
    target: Target, name: str, state: RunState, *, by: str | None, comment: str
) -> None:
    async with await target.connect() as hub:
        run = await read_unfinished(hub, target, name)
        message = ChangeState(by=by or await people.user_of(hub), comment=comment)
        ref = messaging.reference(run, target)
        try:
            answer = await messaging.ask(target, ref, _UPDATES[state], message)
        except messaging.Unanswered as reason:
            answer = await _write(hub, target, run, state, reason=str(reason))
    click.echo(answer)


async def _write(hub: Hub, target: Target, run: UpdateRun, state: RunState, *, reason: str) -> str:
    if run.spec.state is state:
        return f"{reason}; the object says {state} already"
    await hub.patch(
        target.scope.run,
        run.metadata.name,
        {"spec": {"state": str(state)}},
        namespace=target.namespace,
    )
    return f"{reason}; wrote spec.state {state} to the object, a worker will follow it"
