"""Following one run as it changes."""

from collections.abc import AsyncGenerator, Callable

from api.runs import UpdateRun
from hub import Hub, HubError
from starter.following import follow
from starter.targets import Target


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
