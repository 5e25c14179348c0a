"""Having a run do something: the hub holds what a person wants, and the run's workflow follows it.

It is written to the hub with the person's own credentials. So the hub's rights decide whether they
may, and its API server knows who it was; what is sent through Temporal need not be trusted.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import click

from api.runs import UpdateRun
from starter.failures import Failure
from starter.targets import Target
from workflows.messages import Approve, ChangeState, PendingApproval

by_option = click.option(
    "--by", metavar="WHO", help="For whom you act; kept beside the kubeconfig's user."
)
comment_option = click.option("--comment", default="", help="Why; kept with the answer.")


@dataclass(frozen=True, slots=True)
class Written:
    """What the hub holds now."""

    message: ChangeState | Approve
    """What tells the workflow of it."""
    text: str
    """What tells the person, if no workflow does."""
    done: str
    """What tells the person, if the run has come to its end by it."""


Write = Callable[[PendingApproval | None], Awaitable[Written]]
"""Writes to the hub; is told which gate the workflow takes to be meant."""


async def act(
    target: Target, run: UpdateRun, update: str, *consulted: Approve, write: Write
) -> str:
    """Write what is wanted to the hub unless the run's workflow would refuse it; its answer.

    Where no workflow answers, it is written as well, and the answer says why. Raises Failure in
    the workflow's words when it refuses.
    """
    # Here, because Temporal's client is slow to import, and a shell that completes the names of
    # runs imports this module with each press of a key.
    from starter import messaging

    try:
        line = await messaging.Line.to(target, messaging.reference(run, target))
        verdict = await line.consult(f"would_{update}", *consulted)
    except messaging.Unanswered as reason:
        written = await write(None)
        return f"{reason}; {written.text}"
    if verdict.refusal:
        raise Failure(verdict.refusal)
    written = await write(verdict.gate)
    try:
        return await line.tell(update, written.message)
    except messaging.NotRunning:
        return written.done
    except messaging.Unanswered as reason:
        return f"{reason}; {written.text}"
