"""Clients of the hub and the members of a fleet, for synchronous tests."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from api.kinds import Kind
from deploy.local.fleet import FleetAddresses
from deploy.local.paths import HUB
from hub import Hub, Json, Limits
from tests.support import sweeping

T = TypeVar("T")
_LIMITS = Limits(discovery_age=timedelta(hours=1))
"""No kinds are added while a fleet is up, so discovery results may be kept for long."""


class FleetClients:
    """Reads a fleet and empties it, without starting a program for each request.

    The clients live in an event loop of their own, which runs only during a call.
    """

    def __init__(self, kubeconfigs: dict[str, Path]) -> None:
        """`kubeconfigs` maps cluster names to files; the hub is called `hub`."""
        self._kubeconfigs = kubeconfigs
        # With a loop of its own, the runner does not replace the thread's current loop.
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._clusters: dict[str, Hub] = {}

    @classmethod
    def of(cls, addresses: FleetAddresses) -> Self:
        """Return clients of a fleet that is up."""
        return cls({HUB: addresses.hub_kubeconfig, **addresses.member_kubeconfigs})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for cluster in self._clusters.values():
            self._runner.run(cluster.close())
        self._runner.close()

    @property
    def members(self) -> list[str]:
        """Names of the members."""
        return [name for name in self._kubeconfigs if name != HUB]

    def find(self, kind: Kind, name: str, *, namespace: str = "", on: str = HUB) -> Json | None:
        """Return an object of a cluster, or None."""
        return self._run(self._find(kind, name, namespace, on))

    def items(self, kind: Kind, *, namespace: str = "", on: str = HUB) -> list[Json]:
        """Return all objects of a kind, in one namespace or in all."""
        return self._run(self._items(kind, namespace, on))

    def sweep(self) -> None:
        """Remove everything that was rolled out; see `tests.support.sweeping`."""
        self._run(self._sweep())

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(coroutine)

    async def _cluster(self, name: str) -> Hub:
        if name not in self._clusters:
            kubeconfig = self._kubeconfigs[name]
            self._clusters[name] = await Hub.connect(kubeconfig, manager="tests", limits=_LIMITS)
        return self._clusters[name]

    async def _find(self, kind: Kind, name: str, namespace: str, on: str) -> Json | None:
        return await (await self._cluster(on)).find(kind, name, namespace=namespace)

    async def _items(self, kind: Kind, namespace: str, on: str) -> list[Json]:
        return (await (await self._cluster(on)).list(kind, namespace=namespace)).items

    async def _sweep(self) -> None:
        members = {name: await self._cluster(name) for name in self.members}
        await sweeping.sweep(await self._cluster(HUB), members)
