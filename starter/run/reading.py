"""Reading one run from the hub."""

from api.runs import UpdateRun
from hub import Hub
from starter.targets import Target


async def read(hub: Hub, target: Target, name: str) -> UpdateRun:
    """The run of that name; raises hub.NotFound."""
    return UpdateRun.from_wire(await hub.get(target.scope.run, name, namespace=target.namespace))
