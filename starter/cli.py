"""The command `fleetgate`: mounts all commands and turns every failure into one line."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

import click

from starter.lazy import LazyGroup

COMMANDS = {
    "demo": ("starter.demo.command:demo", "Roll a change through a local fleet, step by step."),
    "local": ("starter.local:local", "Start, end and look at the embedded fleet."),
    "run": (
        "starter.run.group:run",
        "Update runs: list, show, explain, watch, history, create, start, stop, delete.",
    ),
    "plan": ("starter.plan.command:plan", "What a run would do, before there is one."),
    "approve": ("starter.approve.command:approve", "Let a run through a gate."),
    "rollback": ("starter.rollback.command:rollback", "Roll an older version out again."),
    "snapshot": (
        "starter.snapshot.group:snapshot",
        "Stored versions of a placement: list, show, diff.",
    ),
    "completion": (
        "starter.completion.command:completion",
        "Make the shell complete commands, and names on the hub.",
    ),
    "doctor": ("starter.doctor.command:doctor", "Say what is not well, and what to type about it."),
    "crds": ("starter.crds:crds", "Print the kinds' definitions, or install them."),
    "policies": ("starter.policies:policies", "Print the admission policies, or install them."),
    "search-attributes": (
        "starter.search_attributes:search_attributes_command",
        "Register with Temporal what its UI finds runs by.",
    ),
    "temporal": (
        "starter.operating.group:temporal",
        "Prepare Temporal: setup, set-current, codec-server.",
    ),
    "worker": ("starter.worker:worker", "Drive update runs: engine, bridge, placement, agents."),
    "agent": ("starter.agent:agent", "Be the agent of one member cluster."),
}


@dataclass(slots=True)
class Session:
    """What the outermost command's options say to those who handle its failure."""

    debug: bool = False


def main() -> NoReturn:
    """Run what was typed and end the process with its exit code."""
    code = run(sys.argv[1:])
    with suppress(BrokenPipeError):
        sys.stdout.flush()
    # Not sys.exit: threads of Temporal's SDK may abort an interpreter that is being torn down,
    # and the exit code is lost (temporalio/sdk-python issue 300).
    os._exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run a command line; a failure is shown as `error: …`, never as a traceback."""
    session = Session()
    try:
        code = fleetgate.main(
            list(arguments), prog_name="fleetgate", standalone_mode=False, obj=session
        )
    except click.Abort:
        _say("interrupted")
        return 130  # as a shell counts a process that SIGINT ended
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
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with `fleetgate demo`, or `fleetgate local up` for a fleet to try things on.",
)
@click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    is_eager=True,  # before the command is imported, which may fail as well
    callback=_remember_debug,
    help="Show the traceback of a failure.",
)
@click.version_option(package_name="fleetgate", message="%(prog)s %(version)s")
def fleetgate() -> None:
    """Roll a change through a fleet of Kubernetes clusters, stage by stage.

    Each update run is one durable Temporal workflow; every object is a Kubernetes object of
    placement.kubernetes-fleet.io, so that kubectl works as well for all of this.
    """
