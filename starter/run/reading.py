"""Reading one run from the hub."""

from api.runs import UpdateRun
from hub import Hub
from starter import views
from starter.failures import Failure
from starter.targets import Target


async def read(hub: Hub, target: Target, name: str) -> UpdateRun:
    """The run of that name; raises hub.NotFound."""
    return UpdateRun.from_wire(await hub.get(target.scope.run, name, namespace=target.namespace))


async def read_unfinished(hub: Hub, target: Target, name: str) -> UpdateRun:
    """The run of that name, which must not have ended; raises hub.NotFound, Failure."""
    run = await read(hub, target, name)
    phase = views.phase(run)
    if phase in views.ENDED:
        raise Failure(
            f"run {name} has {phase}; that is final",
            advice="make a new one: fleetgate run create --help",
        )
    return run
