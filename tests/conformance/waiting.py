"""Waiting for one object by watching it, so that no intermediate state goes unnoticed."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from api.kinds import Kind
from hub import Hub, Json
from tests.support.eventually import patience

Expectation = Callable[[Json | None], object]
"""Returns whether the object is as expected; called with None if it does not exist."""


class NotSeenError(AssertionError):
    """An object did not become as expected in time."""


async def until(
    hub: Hub,
    kind: Kind,
    name: str,
    expect: Expectation,
    *,
    namespace: str = "",
    within: float,
) -> Json | None:
    """Watch one object until it is as expected, and return it in that state."""
    seen: Json | None = None
    try:
        changes = states(hub, kind, name, namespace)
        async with asyncio.timeout(patience(within)), aclosing(changes) as each:
            async for seen in each:
                if expect(seen):
                    return seen
    except TimeoutError:
        # The test itself may have stalled, with the expected event still on its way.
        seen = await hub.find(kind, name, namespace=namespace)
        if expect(seen):
            return seen
        raise NotSeenError(
            f"not within {within} s: {kind} {name}; last seen:\n{_show(seen)}"
        ) from None
    raise NotSeenError("the watch ended")


async def throughout(
    hub: Hub, kind: Kind, name: str, expect: Expectation, *, namespace: str = "", seconds: float
) -> None:
    """Watch one object for a while; fail as soon as it is not as expected."""
    try:
        async with asyncio.timeout(seconds), aclosing(states(hub, kind, name, namespace)) as each:
            async for seen in each:
                assert expect(seen), f"{kind} {name} became:\n{_show(seen)}"
    except TimeoutError:
        return


async def states(
    hub: Hub, kind: Kind, name: str, namespace: str
) -> AsyncGenerator[Json | None, None]:
    """Yield the current object, and again after each change; None while it does not exist."""
    selection: dict[str, Any] = {"namespace": namespace, "fields": f"metadata.name={name}"}
    while True:
        listing = await hub.list(kind, **selection)
        yield next(iter(listing.items), None)
        stream = hub.watch(kind, resource_version=listing.resource_version, **selection)
        async with aclosing(stream) as events:
            async for event in events:
                if event.type in ("ADDED", "MODIFIED"):
                    yield event.object
                elif event.type == "DELETED":
                    yield None


def _show(seen: Json | None) -> str:
    if seen is None:
        return "nothing"
    shown = {key: seen[key] for key in ("spec", "status") if key in seen}
    return json.dumps(shown, indent=1)
