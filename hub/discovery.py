"""The kinds that an API server serves, by aggregated discovery (Kubernetes 1.27 or newer)."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING

from api.kinds import Kind
from hub.objects import Json
from hub.requests import ApiRequest

if TYPE_CHECKING:
    from hub.transport import Transport

ACCEPT = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
)


Kinds = list[Kind]


class Discovery:
    """The served kinds, refreshed when they are old or a kind is unknown."""

    def __init__(self, transport: "Transport", *, max_age: timedelta) -> None:
        self._transport = transport
        self._max_age = max_age.total_seconds()
        self._refreshing = asyncio.Lock()
        self._refreshed_at = float("-inf")
        self._preferred: list[Kind] = []
        self._served: dict[tuple[str, str], Kind] = {}

    async def kinds(self) -> Kinds:
        """Return every kind that can be listed, in the server's preferred version."""
        await self._refresh(older_than=monotonic() - self._max_age)
        return list(self._preferred)

    async def kind_for(self, api_version: str, kind: str) -> Kind | None:
        """Return a kind in any served version, or None if it is not served."""
        if (api_version, kind) not in self._served:
            await self._refresh(older_than=monotonic())
        return self.known_kind(api_version, kind)

    def known_kind(self, api_version: str, kind: str) -> Kind | None:
        """Return a kind as of the last discovery, without refreshing it."""
        return self._served.get((api_version, kind))

    async def _refresh(self, *, older_than: float) -> None:
        async with self._refreshing:
            # Another task may have refreshed while this one waited for the lock.
            if self._refreshed_at >= older_than:
                return
            asked_at = monotonic()
            groups = [group for path in ("/api", "/apis") for group in await self._groups(path)]
            served = [kind for group in groups for kind in _kinds(group)]
            self._served = {(kind.api_version, kind.kind): kind for kind in served}
            self._preferred = _preferred(served)
            self._refreshed_at = asked_at

    async def _groups(self, path: str) -> list[Json]:
        answer = await self._transport.send(
            ApiRequest("get", "discovery", "GET", path, accept=ACCEPT)
        )
        groups: list[Json] = answer["items"]
        return groups


def _kinds(group: Json) -> Iterator[Kind]:
    """Yield the listable kinds of a group, versions in the server's order of preference."""
    for version in group.get("versions", []):
        for resource in version.get("resources", []):
            if "list" in resource["verbs"]:
                yield Kind(
                    group=group["metadata"].get("name", ""),
                    version=version["version"],
                    kind=resource["responseKind"]["kind"],
                    plural=resource["resource"],
                    namespaced=resource["scope"] == "Namespaced",
                )


def _preferred(served: list[Kind]) -> list[Kind]:
    first: dict[tuple[str, str], Kind] = {}
    for kind in served:
        first.setdefault((kind.group, kind.kind), kind)
    return list(first.values())
