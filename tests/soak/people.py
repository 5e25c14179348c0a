"""People at a hub that is away at times: whatever they ask for, they ask until it is done."""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Final, TypeVar

from api.kinds import Kind
from hub import PASSING, AlreadyExists, Hub, Json, NotFound
from tests.support.eventually import eventually

DoneT = TypeVar("DoneT")

PERSISTENCE: Final = 120
"""Seconds for which somebody tries; the hub is never away for so long."""
LOOK_AGAIN: Final = 0.3
"""Seconds between two looks at a run: as often as a person who waits for it would look."""


async def persist(act: Callable[[], Awaitable[DoneT]]) -> DoneT:
    """Do something until the hub does it."""
    deadline = monotonic() + PERSISTENCE
    while True:
        try:
            return await act()
        except PASSING:
            if monotonic() > deadline:
                raise
        await asyncio.sleep(LOOK_AGAIN)


async def create(hub: Hub, kind: Kind, body: Json) -> None:
    """Create an object; one that is there is the one whose answer got lost."""

    async def act() -> None:
        try:
            await hub.create(kind, body)
        except AlreadyExists:
            return

    await persist(act)


async def delete(hub: Hub, kind: Kind, name: str, *, namespace: str) -> None:
    """Delete an object and see it gone."""

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
    """Look at an object until it is as expected, and return it."""

    async def slowly() -> Json | None:
        await asyncio.sleep(LOOK_AGAIN)
        return await persist(look)

    return await eventually(slowly, expect, within=within)
