"""Printing a draft."""

from rich.console import Console

from starter.failures import Failure
from starter.plan import showing
from starter.plan.drafting import Draft
from starter.targets import Target


def print_draft(console: Console, made: Draft, target: Target, *, whole: bool) -> None:
    """Print what a run would do, and what changes: by object, or with `whole` by line.

    Raises Failure if the run could not be initialized.
    """
    console.print(showing.headline(made))
    if showing.stages(made):
        console.print()
        console.print(showing.table(made, width=console.width))
        console.print()
        console.print(showing.totals(made))
    for line in showing.changes(made, whole=whole):
        console.print(line, markup=False)
    if made.problem:
        raise Failure(
            f"the run could not be initialized: {showing.problem(made)}",
            advice=showing.remedy(made, target.scope, target.namespace),
        )
