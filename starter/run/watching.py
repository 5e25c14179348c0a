"""`fleetgate run watch`."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import click

from api.runs import UpdateRun
from hub import Hub
from starter import output, views
from starter.completion import live
from starter.failures import ExitCode, Failure
from starter.following import follow
from starter.helping import examples
from starter.run.screens import screen
from starter.targets import Target, target_options
from starter.views import Phase, RunView


@click.command(
    epilog=examples(
        "fleetgate run watch example-run",
        "fleetgate run watch example-run --exit-on-gate && echo done",
    )
)
@click.argument("name", shell_complete=live.runs)
@click.option("--exit-on-gate", is_flag=True, help="End with exit code 4 when a person must act.")
@target_options
def watch(target: Target, name: str, exit_on_gate: bool) -> int:
    """Follow a run until it ends: stages, clusters, progress, what it waits for.

    On a terminal a live table, elsewhere one line for each change. Exit code 0 when the run
    succeeded, 1 when it failed.
    """
    return asyncio.run(_watch(target, name, exit_on_gate=exit_on_gate))


async def _watch(target: Target, name: str, *, exit_on_gate: bool) -> int:
    async with await target.connect() as hub, aclosing(_views(hub, target, name)) as seen:
        with screen(output.console()) as shown:
            async for view in seen:
                shown.show(view)
                code = exit_code(view, exit_on_gate=exit_on_gate)
                if code is not None:
                    return code
    raise Failure(f"run {name} was deleted", exit_code=ExitCode.NOT_FOUND)


async def _views(hub: Hub, target: Target, name: str) -> AsyncGenerator[RunView, None]:
    """The run as it is, then after each change; ends when it is deleted."""
    kind, namespace = target.scope.run, target.namespace
    uid = (await hub.get(kind, name, namespace=namespace))["metadata"]["uid"]
    async with follow(hub, kind, namespace=namespace, name=name) as changes:
        if await hub.find(kind, name, namespace=namespace) is None:
            return  # deleted before the following began, which therefore never tells
        async for change in changes:
            # A namesake that was made after this one was deleted is another run.
            if change.new is None or change.new["metadata"]["uid"] != uid:
                return
            yield views.of(UpdateRun.from_wire(change.new))


def exit_code(view: RunView, *, exit_on_gate: bool) -> ExitCode | None:
    """How the command ends, or None while there is more to see."""
    if view.phase in views.ENDED:
        return ExitCode.DONE if view.phase is Phase.SUCCEEDED else ExitCode.FAILED
    needs_someone = view.gates.approvals or view.phase in {Phase.PLANNED, Phase.STOPPED}
    return ExitCode.WAITING if exit_on_gate and needs_someone else None
