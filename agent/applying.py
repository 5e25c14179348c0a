"""Applying manifests to the member, wave by wave, in parallel within a wave.

contract: placement 8 (apply order)
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any

from agent.applied import Applied, refused
from agent.attempts import Attempt
from agent.manifests import Manifest, serve
from api.applying import ApplyStrategy
from api.base import OwnerReference
from hub import Hub
from planning.members import apply_waves

Treat = Callable[[Attempt], Awaitable[Applied]]


class Applier:
    """Applies the manifests of Works to one member."""

    def __init__(self, cluster: Hub, *, at_once: int, is_orphan: Callable[[str], bool]) -> None:
        self._cluster = cluster
        self._turns = asyncio.Semaphore(at_once)
        self._is_orphan = is_orphan

    async def apply(
        self, manifests: Sequence[Manifest], *, owner: OwnerReference, strategy: ApplyStrategy
    ) -> list[Applied]:
        """Apply all manifests; return one result per manifest, in order.

        Raises:
            HubError: the member cannot be reached; some manifests may have been applied.
        """

        async def treat(attempt: Attempt) -> Applied:
            return await attempt.apply(owner=owner, is_orphan=self._is_orphan)

        done: list[Applied] = []
        for wave in apply_waves.waves(manifests, kind_of=lambda each: each.kind):
            done += await _all(self._in_turn(each, strategy, treat) for each in wave)
        return sorted(done, key=lambda each: each.manifest.identifier.ordinal)

    async def compare(
        self, manifests: Sequence[Manifest], *, strategy: ApplyStrategy
    ) -> list[Applied]:
        """Compare all manifests with the member; return one result per manifest, in order.

        Raises:
            HubError: the member cannot be reached.
        """
        return await _all(self._in_turn(each, strategy, Attempt.compare) for each in manifests)

    async def _in_turn(self, manifest: Manifest, strategy: ApplyStrategy, treat: Treat) -> Applied:
        async with self._turns:
            manifest = await serve(manifest, cluster=self._cluster)
            if manifest.refusal is not None or manifest.kind is None:
                return refused(manifest, manifest.refusal)
            return await treat(Attempt(self._cluster, manifest, manifest.kind, strategy))


async def _all(attempts: Iterable[Coroutine[Any, Any, Applied]]) -> list[Applied]:
    """Await every attempt even if one fails, so that none is still running after the call."""
    results = await asyncio.gather(*attempts, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if isinstance(result, Applied)]
