"""`fleetgate run history`."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from starter import output
from starter.completion import live
from starter.helping import examples
from starter.history.forms import Form
from starter.options import target_options
from starter.targets import Target

if TYPE_CHECKING:
    from starter.history.in_temporal import Known

OTHERS_AT_MOST: Final = 5
"""Other runs with the same name that are listed."""


@click.command(
    epilog=examples(
        "fleetgate run history example-run",
        "fleetgate run history web-app-rollout -n my-app-namespace",
        "fleetgate run history example-run -o csv > example-run.csv",
        "fleetgate run history example-run -o markdown --uid 5f0c9d1e",
    )
)
@click.argument("name", shell_complete=live.runs)
@click.option(
    "--uid",
    default="",
    help="Select one of several runs with this name, by a prefix of its uid.",
)
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice([str(each) for each in Form]),
    default=str(Form.TABLE),
    show_default=True,
    help="Output format.",
)
@target_options
def history(target: Target, name: str, uid: str, form: str) -> None:
    """Show who did what to a run, and when: clusters, gates, approvals, stops, failures.

    Reads the run's workflow and its objects. A deleted run has a history for as long as Temporal
    keeps its workflow. While Temporal is unreachable, the objects alone are used.
    """
    # Here, because the help must not wait for Temporal's client.
    from starter.history import finding, printing

    found = asyncio.run(finding.find(target, name, uid=uid))
    for what in found.missing:
        click.echo(f"{what}; the history is incomplete", err=True)
    if found.others:
        click.echo(_others(found.others), err=True)
    if writer := printing.WRITERS.get(Form(form)):
        click.echo(writer(found.entries))
    else:
        console = output.console()
        output.print_table(console, printing.table(found.entries, room=output.room(console)))


def _others(known: "Sequence[Known]") -> str:
    listed = [f"{each.uid} of {each.started:%Y-%m-%d %H:%M}" for each in known[:OTHERS_AT_MOST]]
    more = len(known) - len(listed)
    listed += [f"{more} more"] if more else []
    return f"other runs with this name, shown with --uid: {', '.join(listed)}"
