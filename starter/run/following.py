"""One run as it changes."""

from collections.abc import AsyncGenerator

from api.runs import UpdateRun
from hub import Hub
from starter.following import follow
from starter.targets import Target


async def versions(hub: Hub, target: Target, run: UpdateRun) -> AsyncGenerator[UpdateRun, None]:
    """The run as it is, then after each change; ends when it is deleted."""
    kind, name, namespace = target.scope.run, run.metadata.name, target.namespace
    async with follow(hub, kind, namespace=namespace, name=name) as changes:
        if await hub.find(kind, name, namespace=namespace) is None:
            return  # deleted before the following began, which therefore never tells
        async for change in changes:
            # A namesake that was made after this one was deleted is another run.
            if change.new is None or change.new["metadata"]["uid"] != run.metadata.uid:
                return
            yield UpdateRun.from_wire(change.new)
