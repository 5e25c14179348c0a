"""`fleetgate run watch`: how a run is followed, until when, and with which exit code it ends."""

import asyncio
from contextlib import aclosing, suppress
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

import click

from api.approvals import BaseApprovalRequest
from hub import Hub, HubError
from planning.runs import approvals, estimating, phases, views
from planning.runs.phases import Phase
from planning.runs.views import RunView
from starter import output, words
from starter.completion import live
from starter.failures import CommandFailure, ExitCode
from starter.helping import examples
from starter.options import target_options
from starter.patience import Duration
from starter.run import reading
from starter.run.reading import read
from starter.run.screens import WatchedRun, screen
from starter.targets import Target

# -- when it ends, and with which exit code ------------------------------------------------


class Until(StrEnum):
    """How far a run is watched."""

    GATE = "gate"
    """Until its end, or until a person must act or clusters are stuck."""
    SUCCEEDED = "succeeded"
    """Until its end; only success counts as success."""
    FINISHED = "finished"
    """Until its end; any end counts as success."""


def exit_code(view: RunView, until: Until) -> ExitCode | None:
    """Return the exit code of the command, or None if it should keep watching."""
    if view.phase in phases.ENDED:
        good = view.phase is Phase.SUCCEEDED or until is Until.FINISHED
        return ExitCode.DONE if good else ExitCode.FAILED
    return _held_up(view) if until is Until.GATE else None


def _held_up(view: RunView) -> ExitCode | None:
    """Return the exit code for why the run makes no progress by itself, or None if it does."""
    if view.to_be_started:
        return ExitCode.STOPPED
    if view.gates.approvals:
        return ExitCode.GATE
    return ExitCode.STUCK if view.phase in {Phase.STUCK, Phase.PAUSED} else None


# -- the command ---------------------------------------------------------------------------


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
        lengths = await earlier_durations(hub, target, view)
        with screen(output.console()) as shown, suppress(TimeoutError):
            versions = reading.versions(hub, target, run, trouble=shown.trouble)
            async with asyncio.timeout(limit), aclosing(versions):
                async for version in versions:
                    view = views.of(version)
                    shown.show(WatchedRun(version, view, lengths))
                    ended = await _code_now(hub, target, view, until)
                    if ended is not None:
                        code = ended
                        break
                else:
                    raise CommandFailure(f"run {name} was deleted", exit_code=ExitCode.NOT_FOUND)
    click.echo(f"run {name}: {words.sentence(view, datetime.now(UTC))}")
    return code


async def _code_now(hub: Hub, target: Target, view: RunView, until: Until) -> ExitCode | None:
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


# -- how long clusters took in earlier runs ------------------------------------------------


ESTIMATE_WITHIN: Final = timedelta(seconds=3)
"""An estimate is not worth a longer wait."""


async def earlier_durations(hub: Hub, target: Target, view: RunView) -> tuple[timedelta, ...]:
    """Return durations of clusters in the latest ended runs of the same placement and strategy.

    Empty if the run has ended or has durations of its own, and if the hub does not answer in time.
    """
    if view.phase in phases.ENDED or view.done:
        return ()
    try:
        async with asyncio.timeout(ESTIMATE_WITHIN.total_seconds()):
            found = await hub.list(target.scope.run, namespace=target.namespace)
    except (HubError, TimeoutError):
        return ()
    return estimating.earlier_durations(
        found.items, placement=view.placement, strategy=view.strategy
    )
