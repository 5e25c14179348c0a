"""`fleetgate doctor`."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import click

from starter import output
from starter.doctor.findings import HOME, Setup, Verdict
from starter.failures import ExitCode
from starter.helping import examples
from starter.options import target_options
from starter.patience import Duration
from starter.targets import Output, Target

if TYPE_CHECKING:
    from starter.doctor.checks import Report

_FORMS = [str(each) for each in (Output.TABLE, Output.WIDE, Output.JSON, Output.YAML)]


@click.command(
    epilog=examples(
        "fleetgate doctor",
        "fleetgate doctor --home rollouts --task-queue rollouts",
        "fleetgate doctor --metrics localhost:9464",
        "fleetgate doctor -o json | jq -r '.findings[] | select(.verdict == \"problem\") | .about'",
    )
)
@click.option(
    "--task-queue",
    envvar="FLEETGATE_TASK_QUEUE",
    default="fleetgate",
    show_default=True,
    help="Temporal task queue of the workers  [FLEETGATE_TASK_QUEUE].",
)
@click.option(
    "--home",
    default=HOME,
    show_default=True,
    help="Namespace on the hub with fleetgate's ServiceAccounts.",
)
@click.option(
    "--metrics",
    default="",
    metavar="HOST:PORT",
    help="Also check the worker with this metrics address.",
)
@click.option(
    "--timeout",
    type=Duration(),
    metavar="DURATION",
    default="10s",
    show_default=True,
    help="Time limit for each check.",
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(_FORMS),
    default=str(Output.TABLE),
    show_default=True,
    help="Output format.",
)
@target_options
def doctor(target: Target, task_queue: str, home: str, metrics: str, timeout: timedelta) -> int:
    """Check the installation and suggest fixes.

    Checks the hub, its CRDs and policies, your rights and those of fleetgate's processes, Temporal,
    workers, members, placements and runs. It changes nothing. Whatever you have no rights to read
    is reported as `unknown`. With -n, only placements and runs of that namespace are checked. The
    exit code is 1 if there is a problem; warnings are not failures.
    """
    from starter.doctor import checks  # here, because the help must not wait for Temporal's client

    found = _examine(target, within=timeout, task_queue=task_queue, home=home, metrics=metrics)
    reports = asyncio.run(found)
    _print(reports, target)
    return ExitCode.FAILED if checks.worst(reports) is Verdict.PROBLEM else ExitCode.DONE


async def _examine(target: Target, *, within: timedelta, **named: str) -> "Sequence[Report]":
    from starter.doctor import checks

    async with await target.connect() as hub:
        return await checks.examine(Setup(hub, target, **named), within=within)


def _print(reports: "Sequence[Report]", target: Target) -> None:
    from starter.doctor import showing

    if target.output.is_table:
        wide = target.output is Output.WIDE
        showing.show(output.console(wide=wide), reports, wide=wide)
    else:
        document = showing.document(reports)
        output.print_document(document, target, rows=[document])
