"""Fixtures of the tests that try the CRDs on a real API server."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from api.kinds import SCOPES, Kind, Scope
from hub import Hub
from hub.errors import NotFound

Make = Callable[[Kind, dict[str, Any]], Awaitable[dict[str, Any]]]


@pytest.fixture(params=SCOPES.values(), ids=lambda scope: scope.name)
def scope(request: pytest.FixtureRequest) -> Scope:
    """Both scopes, one after the other."""
    picked: Scope = request.param
    return picked


@pytest.fixture
async def make(hub: Hub) -> AsyncIterator[Make]:
    """Create objects that are deleted after the test."""
    made: list[tuple[Kind, dict[str, Any]]] = []

    async def create(kind: Kind, body: dict[str, Any]) -> dict[str, Any]:
        stored = await hub.create(kind, body)
        made.append((kind, stored["metadata"]))
        return stored

    yield create
    for kind, metadata in made:
        try:
            await hub.delete(kind, metadata["name"], namespace=metadata.get("namespace", ""))
        except NotFound:
            continue
