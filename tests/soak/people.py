"""Requests of people to a hub that is sometimes unreachable, retried until they succeed."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final, TypeVar

from api.kinds import Kind
from hub import PASSING, AlreadyExists, Hub, Json, NotFound
from tests.support.eventually import eventually

DoneT = TypeVar("DoneT")

PERSISTENCE: Final = 120
"""Seconds for which a request is retried; the hub is never unreachable for that long."""
LOOK_AGAIN: Final = 0.3
"""Seconds between two reads of a run."""


async def persist(act: Callable[[], Awaitable[DoneT]]) -> DoneT:
    """Retry a request until the hub accepts it, and return the result."""
    deadline = monotonic() + PERSISTENCE
    while True:
        try:
            return await act()
        except PASSING:
            if monotonic() > deadline:
                raise
        await asyncio.sleep(LOOK_AGAIN)


async def create(hub: Hub, kind: Kind, body: Json) -> None:
    """Create an object; one that exists was created by an earlier attempt whose answer was lost."""

    async def act() -> None:
        try:
            await hub.create(kind, body)
        except AlreadyExists:
            return

    await persist(act)


async def delete(hub: Hub, kind: Kind, name: str, *, namespace: str) -> None:
    """Delete an object, if it exists."""

    async def act() -> None:
        try:
            await hub.delete(kind, name, namespace=namespace)
        except NotFound:
            return

    await persist(act)


async def seen(
    look: Callable[[], Awaitable[Json | None]],
    expect: Callable[[Json | None], object],
    *,
    within: float,
) -> Json | None:
    """Read an object until it is as expected, and return it."""

    async def slowly() -> Json | None:
        await asyncio.sleep(LOOK_AGAIN)
        return await persist(look)

    return await eventually(slowly, expect, within=within)
