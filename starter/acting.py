"""Having a run do something: asking its workflow, or writing what is wanted to the hub."""

from collections.abc import Awaitable, Callable

import click

from api.runs import UpdateRun
from starter.targets import Target
from workflows.messages import Approve, ChangeState

by_option = click.option(
    "--by", metavar="WHO", help="For whom you act; kept beside the kubeconfig's user."
)
comment_option = click.option("--comment", default="", help="Why; kept with the answer.")


async def tell(
    target: Target,
    run: UpdateRun,
    update: str,
    message: ChangeState | Approve,
    *,
    otherwise: Callable[[], Awaitable[str]],
) -> str:
    """Send a message to the run's workflow and return its answer.

    Where no workflow answers, do it `otherwise`, and say why. Raises Failure in the workflow's
    words when it refuses.
    """
    # Here, because Temporal's client is slow to import, and a shell that completes the names of
    # runs imports this module with each press of a key.
    from starter import messaging

    try:
        return await messaging.ask(target, messaging.reference(run, target), update, message)
    except messaging.Unanswered as reason:
        return f"{reason}; {await otherwise()}"
