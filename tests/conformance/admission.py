"""A policy on the hub that refuses one change, as a user's webhook might."""

from contextlib import AbstractAsyncContextManager
from functools import partial

from tests.conformance.world import World
from tests.support.admission import status_refused
from tests.support.conditions import condition

ACCEPTS = "object.status.conditions.exists(each, each.type == 'ApprovalAccepted')"


def acceptance_refused(world: World, request: str) -> AbstractAsyncContextManager[None]:
    """Let the hub refuse to mark an approval request as accepted."""
    kind = world.scope.approval
    tried = condition("ApprovalAccepted", "False", reason="Trial")
    body = {"metadata": world.meta(request), "status": {"conditions": [tried]}}
    trial = partial(
        world.hub.apply, kind, body, subresource="status", manager="trial", dry_run=True
    )
    return status_refused(
        world.hub, kind, request, unless=f"!has(object.status) || !{ACCEPTS}", trial=trial
    )
