"""One run as it changes."""

from collections.abc import AsyncGenerator, Callable

from api.runs import UpdateRun
from hub import Hub, HubError
from starter.following import follow
from starter.targets import Target


async def versions(
    hub: Hub, target: Target, run: UpdateRun, *, trouble: Callable[[str], None] | None = None
) -> AsyncGenerator[UpdateRun, None]:
    """The run as it is, then after each change; ends when it is deleted.

    Goes on when the hub was away; `trouble` is told of that, and with nothing when it is back.
    """
    kind, name, namespace = target.scope.run, run.metadata.name, target.namespace
    async with follow(hub, kind, namespace=namespace, name=name, trouble=trouble) as changes:
        if await _is_gone(hub, target, name):
            return  # deleted before the following began, which therefore never tells
        async for change in changes:
            # A namesake that was made after this one was deleted is another run.
            if change.new is None or change.new["metadata"]["uid"] != run.metadata.uid:
                return
            yield UpdateRun.from_wire(change.new)


async def _is_gone(hub: Hub, target: Target, name: str) -> bool:
    try:
        return await hub.find(target.scope.run, name, namespace=target.namespace) is None
    except HubError:
        return False  # The hub is away; the following tells of that, and when it is back.
