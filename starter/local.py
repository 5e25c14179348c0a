"""`fleetgate local`: commands for the local fleet."""

import json
import shlex
import time
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from pathlib import Path
from typing import Final, ParamSpec, TextIO, TypeVar

import click
from rich.console import Console
from rich.text import Text

from deploy.local.binaries import find_all
from deploy.local.errors import LocalFleetError, UnknownProcess
from deploy.local.fleet import FleetAddresses, LocalFleet
from deploy.local.paths import FleetPaths
from deploy.local.progress import ProgressDisplay
from deploy.local.status import ProcessState, ProcessStatus
from starter import columns, output
from starter.columns import Room
from starter.failures import CommandFailure, ExitCode
from starter.groups import HelpfulGroup

_P = ParamSpec("_P")
_R = TypeVar("_R")

_LOOK_AGAIN: Final = timedelta(milliseconds=200)
"""Polling interval of `logs -f`."""

_UP_EXAMPLES: Final = """\b
Examples:
  fleetgate local up
  fleetgate local up --members 5
"""
_LOGS_EXAMPLES: Final = """\b
Examples:
  fleetgate local logs worker -f
  fleetgate local logs hub-apiserver --tail 20
"""


def _explained(command: Callable[_P, _R]) -> Callable[_P, _R]:
    """Turn errors of the fleet into failures of the command."""

    @wraps(command)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return command(*args, **kwargs)
        except UnknownProcess as error:
            raise CommandFailure(str(error), exit_code=ExitCode.NOT_FOUND) from error
        except LocalFleetError as error:
            raise CommandFailure(str(error)) from error

    return wrapper


def _progress() -> ProgressDisplay:
    return ProgressDisplay(Console(stderr=True))


def _fleet(progress: ProgressDisplay | None = None) -> LocalFleet:
    paths = FleetPaths.here()
    return LocalFleet(paths, say=progress.say) if progress else LocalFleet(paths)


@click.group(name="local", cls=HelpfulGroup)
def local() -> None:
    """Start, stop and inspect a fleet on this machine.

    A fleet consists of real components: Temporal with its UI, etcd, and a kube-apiserver with a
    kube-controller-manager for the hub and for each member. Only the nodes are simulated: pods
    become ready after a second, unless the tag of their image starts with `bad`. Everything is
    kept in `.fleetgate/` of the current folder.
    """


@local.command(epilog=_UP_EXAMPLES)
@click.option(
    "--members",
    type=click.IntRange(1, 50),
    help="Number of member clusters  [default: 3 for a new fleet, else unchanged].",
)
@click.option(
    "--worker/--no-worker",
    default=True,
    show_default=True,
    help="Also run fleetgate's worker; without it, run `fleetgate worker` yourself.",
)
@_explained
def up(members: int | None, worker: bool) -> None:
    """Start all processes of the fleet that are not running, and wait until they are ready.

    Run it again to restart processes that died. Binaries are looked up in FLEETGATE_TEMPORAL,
    FLEETGATE_ETCD, FLEETGATE_KUBE_APISERVER and FLEETGATE_KUBE_CONTROLLER_MANAGER, on the PATH and
    in the cache; missing ones are downloaded, or built with Go, once per machine.
    """
    progress = _progress()
    binaries = find_all(progress=progress)
    addresses = _fleet(progress).up(binaries, count=members, worker=worker)
    click.echo(_summary(addresses))


@local.command()
@click.option("--purge", is_flag=True, help="Also delete its data: objects, history, tokens.")
@_explained
def down(purge: bool) -> None:
    """Stop the fleet's processes; `up` resumes with the same objects and runs."""
    ended = _fleet(_progress()).down(purge=purge)
    kept = "its data is deleted" if purge else "its data is kept"
    click.echo(f"{ended} processes stopped; {kept}" if ended else f"nothing was running; {kept}")


@local.command()
@click.option("-o", "--output", "form", type=click.Choice(["table", "json"]), default="table")
@_explained
def status(form: str) -> None:
    """Show the state and address of each process."""
    processes = _fleet().status()
    if form == "json":
        shown = [one.model_dump(mode="json", by_alias=True) for one in processes]
        click.echo(json.dumps(shown, indent=2))
    elif not processes:
        click.echo(
            f"There is no fleet in {FleetPaths.here().root}; `fleetgate local up` starts one"
        )
    else:
        screen = output.console()
        output.print_table(screen, _table(processes, room=output.room(screen)))
        click.echo(f"\n{_advice(processes)}")


@local.command(epilog=_LOGS_EXAMPLES)
@click.argument("name")
@click.option("-f", "--follow", is_flag=True, help="Keep printing new lines.")
@click.option("--tail", default=0, metavar="LINES", help="Show only the last lines; 0 shows all.")
@_explained
def logs(name: str, follow: bool, tail: int) -> None:
    """Print the log of a process; NAME is from `fleetgate local status`."""
    path = _fleet().log(name)
    with path.open(encoding="utf-8", errors="replace") as log:
        for line in deque(log, maxlen=tail or None):
            click.echo(line, nl=False)
        if follow:
            _follow(log)


def _follow(log: TextIO) -> None:
    """Print new lines of the log until Ctrl-C, which is the normal end of this command."""
    try:
        while True:
            line = log.readline()
            if line:
                click.echo(line, nl=False)
            else:
                time.sleep(_LOOK_AGAIN.total_seconds())
    except KeyboardInterrupt:
        return


def _summary(addresses: FleetAddresses) -> str:
    members = " ".join(addresses.member_kubeconfigs)
    return f"""
The fleet is up: a hub and {members}.

  export KUBECONFIG={shlex.quote(str(addresses.hub_kubeconfig))}
  export TEMPORAL_ADDRESS={addresses.temporal}

  Temporal UI   {addresses.temporal_ui}
  Members       {addresses.hub_kubeconfig.with_name("<member>.kubeconfig")}

Next: fleetgate demo, fleetgate run list, fleetgate local status, fleetgate local down"""


def _table(processes: list[ProcessStatus], *, room: Room) -> Text:
    headings = ("PROCESS", "STATE", "PID", "UPTIME", "MEMORY", "ADDRESS")
    return columns.table(headings, [_row(one) for one in processes], room=room)


def _row(one: ProcessStatus) -> tuple[str | Text, ...]:
    return (
        one.name,
        output.word(one.state.value),
        str(one.pid or ""),
        "" if one.uptime_seconds is None else str(timedelta(seconds=one.uptime_seconds)),
        "" if one.memory_bytes is None else f"{one.memory_bytes / 2**20:.0f} MiB",
        one.address,
    )


def _advice(processes: list[ProcessStatus]) -> str:
    died = [one.name for one in processes if one.state is ProcessState.DIED]
    if died:
        return (
            f"`fleetgate local up` restarts what died; `fleetgate local logs {died[0]}` shows why"
        )
    if all(one.state is ProcessState.STOPPED for one in processes):
        return "The fleet is down; `fleetgate local up` starts it again"
    return f"Logs: {Path(processes[0].log).with_name('<process>.log')}"
