"""Steering a run: a request is written to the hub, and the run's workflow follows it.

The request is written with the person's own credentials. The hub's RBAC decides whether they may
make it, and its API server knows who made it, so messages sent through Temporal need no trust.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import click

from api.runs import UpdateRun
from planning.runs.gates import PendingApproval
from starter.failures import CommandFailure
from starter.targets import Target
from workflows.messages import Approve, ChangeState

by_option = click.option(
    "--by",
    metavar="WHO",
    help="Person on whose behalf you act; recorded with the kubeconfig's user.",
)
comment_option = click.option("--comment", default="", help="Reason, recorded with the action.")


@dataclass(frozen=True, slots=True)
class Written:
    """A request that the hub now holds."""

    message: ChangeState | Approve
    """The message that notifies the workflow."""
    text: str
    """The answer for the person if no workflow gives one."""
    done: str
    """The answer for the person if the request ended the run."""


Write = Callable[[PendingApproval | None], Awaitable[Written]]
"""Writes the request to the hub; gets the gate that the workflow would approve, if it named one."""


async def act(
    target: Target, run: UpdateRun, update: str, *consulted: Approve, write: Write
) -> str:
    """Write a request to the hub unless the run's workflow would refuse it, and return the answer.

    If no workflow answers, the request is still written, and the returned text says why there was
    no answer. Raises CommandFailure with the workflow's own words if it refuses.
    """
    # Imported here because Temporal's client is slow to import, and shell completion of run names
    # imports this module at each press of the tab key.
    from starter import messaging

    try:
        line = await messaging.Line.to(target, messaging.reference(run, target))
        verdict = await line.consult(f"would_{update}", *consulted)
    except messaging.Unanswered as reason:
        written = await write(None)
        return f"{reason}; {written.text}"
    if verdict.refusal:
        raise CommandFailure(verdict.refusal)
    written = await write(verdict.gate)
    try:
        return await line.send(update, written.message)
    except messaging.NotRunning:
        return written.done
    except messaging.Unanswered as reason:
        return f"{reason}; {written.text}"
