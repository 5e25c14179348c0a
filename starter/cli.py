"""The command `fleetgate`: registers all commands and reports every failure in one line."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

import click

from starter import groups
from starter.groups import LazyGroup

COMMANDS = {
    "demo": ("starter.demo.command:demo", "Roll a change through a local fleet, step by step."),
    "local": ("starter.local:local", "Start, stop and inspect a fleet on this machine."),
    "run": (
        "starter.groups:run",
        "Manage update runs: list, explain, watch, create, start, stop and more.",
    ),
    "plan": ("starter.plan.command:plan", "Show what a run would do without creating it."),
    "approve": ("starter.approve:approve", "Approve a gate of a run."),
    "rollback": ("starter.rollback.command:rollback", "Roll out an older snapshot."),
    "snapshot": (
        "starter.groups:snapshot",
        "List, show and compare the snapshots of a placement.",
    ),
    "policy": ("starter.groups:policy", "List and show the rules for runs."),
    "member": ("starter.groups:member", "Join clusters to the fleet, list and remove them."),
    "completion": (
        "starter.completion.command:completion",
        "Print a completion script for a shell.",
    ),
    "doctor": ("starter.doctor.command:doctor", "Check the installation and suggest fixes."),
    "crds": ("starter.installing:crds", "Print the CRDs, or install them."),
    "policies": ("starter.installing:policies", "Print the admission policies, or install them."),
    "search-attributes": (
        "starter.operating.setup:search_attributes_command",
        "Register the search attributes of runs in Temporal.",
    ),
    "temporal": ("starter.groups:temporal", "Set up and operate Temporal for fleetgate."),
    "version": (
        "starter.version:version",
        "Print the versions of client, hub, Temporal and workers.",
    ),
    "help": ("starter.helping:help_command", "Show the help of a command."),
    "worker": ("starter.worker:worker", "Run a worker: engine, bridge, placement, agents."),
    "agent": ("starter.agent:agent", "Run the agent for a member cluster."),
}


@dataclass(slots=True)
class Session:
    """Options of `fleetgate` itself, for the code that reports a failure."""

    debug: bool = False


def main() -> NoReturn:
    """Run the command line and exit with its exit code."""
    code = run(sys.argv[1:])
    with suppress(BrokenPipeError):
        sys.stdout.flush()
    # Not sys.exit: threads of Temporal's SDK may abort the interpreter while it shuts down, and
    # the exit code would be lost (temporalio/sdk-python issue 300).
    os._exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code.

    A failure is printed as `error: …`, and as a traceback only with `--debug`.
    """
    session = Session()
    try:
        code = fleetgate.main(
            list(arguments), prog_name="fleetgate", standalone_mode=False, obj=session
        )
    except click.Abort:
        _say("interrupted")
        return 130  # the shell's exit code for a process that SIGINT ended
    except click.ClickException as error:
        return _show_usage(error)
    except Exception as error:
        if session.debug:
            raise
        return _show(error)
    return code if isinstance(code, int) else 0


def _show_usage(error: click.ClickException) -> int:
    _say(f"error: {error.format_message()}")
    if isinstance(error, click.UsageError) and error.ctx:
        _say(f"  see `{error.ctx.command_path} --help`")
    return error.exit_code


def _show(error: Exception) -> int:
    from starter import failures  # here, because it loads a Kubernetes client

    failure = failures.explain(error)
    _say(f"error: {failure}")
    for line in failure.advice.splitlines():
        _say(f"  {line}")
    return failure.exit_code


def _say(text: str) -> None:
    click.echo(text, err=True)


def _remember_debug(context: click.Context, _: click.Parameter, value: bool) -> None:
    context.ensure_object(Session).debug = value


@click.group(
    name="fleetgate",
    cls=LazyGroup,
    commands_at=COMMANDS,
    meant=groups.MEANT,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with `fleetgate demo`, or `fleetgate local up` for a fleet to try things on.",
)
@click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    is_eager=True,  # parsed before the command is imported, because that import may fail too
    callback=_remember_debug,
    help="Print a traceback if the command fails.",
)
@click.version_option(package_name="fleetgate", message="%(prog)s %(version)s")
def fleetgate() -> None:
    """Roll a change through a fleet of Kubernetes clusters, stage by stage.

    Each update run is a durable Temporal workflow. All objects are Kubernetes objects of the group
    placement.kubernetes-fleet.io, so everything works with kubectl too.
    """
