"""Snapshots as objects, for programs, without the values of Secrets."""

from api import names
from hub import Hub, Json
from starter import output
from starter.differences import hidden
from starter.targets import Target


async def print_stored(hub: Hub, target: Target, placement: str) -> None:
    """Print a placement's snapshot objects in the format of `-o json|yaml|name`."""
    kind, namespace = target.scope.resource_snapshot, target.namespace
    # Read the placement first: if it does not exist that is an error, unlike an empty list.
    await hub.get(target.scope.placement, placement, namespace=namespace)
    labels = f"{names.PARENT_PLACEMENT}={placement}"
    found = await hub.list(kind, namespace=namespace, labels=labels)
    shown = [_without_secrets(each) for each in found.items]
    output.print_objects(kind, shown, target.output, single=False)


def _without_secrets(snapshot: Json) -> Json:
    spec = snapshot["spec"]
    resources = [hidden(each) for each in spec["selectedResources"]]
    return snapshot | {"spec": spec | {"selectedResources": resources}}
