"""Reading one run from the hub."""

from api.runs import UpdateRun
from hub import Hub
from planning.runs import phases, views
from planning.runs.phases import Phase
from starter import words
from starter.failures import Failure
from starter.targets import Target


async def read(hub: Hub, target: Target, name: str) -> UpdateRun:
    """Read the run with this name; raises hub.NotFound."""
    return UpdateRun.from_wire(await hub.get(target.scope.run, name, namespace=target.namespace))


async def read_unfinished(hub: Hub, target: Target, name: str) -> UpdateRun:
    """Read the run with this name; raises hub.NotFound, or Failure if the run has ended."""
    run = await read(hub, target, name)
    view = views.of(run)
    if view.phase in phases.ENDED:
        failed = view.phase is Phase.FAILED and view.deciding
        why = f": {words.reason(failed.message)}" if failed else ""
        raise Failure(
            f"run {name} has {view.phase}{why}; that is final",
            advice="create a new one: fleetgate run create --help",
        )
    return run
