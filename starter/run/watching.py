"""`fleetgate run watch`."""

import asyncio
from contextlib import aclosing, suppress
from datetime import UTC, datetime, timedelta

import click

from api.approvals import BaseApprovalRequest
from hub import Hub, HubError
from planning.runs import approvals, views
from planning.runs.views import RunView
from starter import output, words
from starter.completion import live
from starter.failures import ExitCode, Failure
from starter.helping import examples
from starter.options import target_options
from starter.patience import Duration
from starter.run import earlier, reading
from starter.run.board import Sighting
from starter.run.reading import read
from starter.run.screens import screen
from starter.run.until import Until, exit_code
from starter.targets import Target


@click.command(
    epilog=examples(
        "fleetgate run watch example-run",
        "fleetgate run watch example-run && echo done",
        "fleetgate run watch example-run --until gate; test $? -eq 4 && ./ask-for-approval",
        "fleetgate run watch example-run --timeout 30m",
    )
)
@click.argument("name", shell_complete=live.runs)
@click.option(
    "--until",
    type=click.Choice([str(each) for each in Until]),
    help="How far to watch  [default: succeeded].",
)
@click.option("--exit-on-gate", is_flag=True, help="The same as --until gate.")
@click.option(
    "--timeout",
    type=Duration(),
    metavar="DURATION",
    help="How long to watch, such as 30m, before giving up with exit code 7  [default: no limit].",
)
@target_options
def watch(
    target: Target, name: str, until: str | None, exit_on_gate: bool, timeout: timedelta | None
) -> int:
    """Follow a run until it ends: stages, clusters in flight, gates, and the estimated time left.

    Shows a live screen on a terminal and prints one line per change elsewhere; the last line is the
    final state. It keeps watching while the hub is unreachable.

    Exit code 0 means that the run succeeded, 1 that it failed, 3 that it was deleted. With --until
    gate it also ends as soon as the run makes no progress by itself: with 4 at an open approval, 5
    if the run is stopped, or planned but not started, 6 if it is stuck. With --until finished the
    exit code is 0 however the run ended.
    """
    if exit_on_gate and until not in {None, Until.GATE}:
        raise click.UsageError(f"--exit-on-gate means --until gate, not --until {until}")
    wanted = Until.GATE if exit_on_gate else Until(until or Until.SUCCEEDED)
    return asyncio.run(_watch(target, name, wanted, timeout))


async def _watch(target: Target, name: str, until: Until, patience: timedelta | None) -> int:
    limit = patience.total_seconds() if patience else None
    async with await target.connect() as hub:
        run = await read(hub, target, name)
        view, code = views.of(run), ExitCode.LATE
        lengths = await earlier.durations(hub, target, view)
        with screen(output.console()) as shown, suppress(TimeoutError):
            versions = reading.versions(hub, target, run, trouble=shown.trouble)
            async with asyncio.timeout(limit), aclosing(versions):
                async for version in versions:
                    view = views.of(version)
                    shown.show(Sighting(version, view, lengths))
                    ended = await _exit_code(hub, target, view, until)
                    if ended is not None:
                        code = ended
                        break
                else:
                    raise Failure(f"run {name} was deleted", exit_code=ExitCode.NOT_FOUND)
    click.echo(f"run {name}: {words.sentence(view, datetime.now(UTC))}")
    return code


async def _exit_code(hub: Hub, target: Target, view: RunView, until: Until) -> ExitCode | None:
    code = exit_code(view, until)
    if code is ExitCode.GATE and await _is_given(hub, target, view):
        return None
    return code


async def _is_given(hub: Hub, target: Target, view: RunView) -> bool:
    """Return whether all open approvals are given; the run's status shows that a moment later."""
    kind, namespace = target.scope.approval, target.namespace
    try:
        for gate in view.gates.approvals:
            found = await hub.get(kind, gate.request, namespace=namespace)
            if not approvals.approved(BaseApprovalRequest.from_wire(found)):
                return False
    except HubError:
        return False  # assume that a person must act
    return True
