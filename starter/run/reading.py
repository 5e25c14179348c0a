"""Reading one run from the hub, once or each time it changes."""

from collections.abc import AsyncGenerator, Callable

from api.runs import UpdateRun
from hub import Hub, HubError
from planning import failures
from planning.runs import phases, views
from planning.runs.phases import Phase
from starter.failures import CommandFailure
from starter.following import follow
from starter.targets import Target


async def read(hub: Hub, target: Target, name: str) -> UpdateRun:
    """Read the run with this name; raises hub.NotFound."""
    return UpdateRun.from_wire(await hub.get(target.scope.run, name, namespace=target.namespace))


async def read_unfinished(hub: Hub, target: Target, name: str) -> UpdateRun:
    """Read the run with this name; raises hub.NotFound, or CommandFailure if the run has ended."""
    run = await read(hub, target, name)
    view = views.of(run)
    if view.phase in phases.ENDED:
        failed = view.phase is Phase.FAILED and view.deciding
        why = f": {failures.reason(failed.message)}" if failed else ""
        raise CommandFailure(
            f"run {name} has {view.phase}{why}; that is final",
            advice="create a new one: fleetgate run create --help",
        )
    return run


async def versions(
    hub: Hub, target: Target, run: UpdateRun, *, trouble: Callable[[str], None] | None = None
) -> AsyncGenerator[UpdateRun, None]:
    """Yield the run as it is, then after each change; end when it is deleted.

    Continues after the hub was unreachable; `trouble` is called with the reason, and with an empty
    text once the hub is back.
    """
    kind, name, namespace = target.scope.run, run.metadata.name, target.namespace
    async with follow(hub, kind, namespace=namespace, name=name, trouble=trouble) as changes:
        if await _is_gone(hub, target, name):
            return  # deleted before the watch started, so no change will report it
        async for change in changes:
            # A run with this name but another uid was created after this one was deleted.
            if change.new is None or change.new["metadata"]["uid"] != run.metadata.uid:
                return
            yield UpdateRun.from_wire(change.new)


async def _is_gone(hub: Hub, target: Target, name: str) -> bool:
    try:
        return await hub.find(target.scope.run, name, namespace=target.namespace) is None
    except HubError:
        return False  # the hub is unreachable, which the watch reports too
