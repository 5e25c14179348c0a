"""Snapshots as objects, for programs; without the values of Secrets."""

from api import names
from hub import Hub, Json
from starter import output
from starter.secrecy import hidden
from starter.targets import Target


async def print_stored(hub: Hub, target: Target, placement: str) -> None:
    """Print the objects that store a placement's versions, as `-o json|yaml|name` do."""
    kind, namespace = target.scope.resource_snapshot, target.namespace
    # The placement first, for its absence is worth an error and an empty list is not.
    await hub.get(target.scope.placement, placement, namespace=namespace)
    labels = f"{names.PARENT_PLACEMENT}={placement}"
    found = await hub.list(kind, namespace=namespace, labels=labels)
    shown = [_without_secrets(each) for each in found.items]
    output.print_objects(kind, shown, target.output, single=False)


def _without_secrets(snapshot: Json) -> Json:
    spec = snapshot["spec"]
    resources = [hidden(each) for each in spec["selectedResources"]]
    return snapshot | {"spec": spec | {"selectedResources": resources}}
