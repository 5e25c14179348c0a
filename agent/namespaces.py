"""The namespaces of the member cluster, kept up to date by a watch.

contract: placement 11
"""

import asyncio
from collections.abc import Callable

from agent.settings import AgentSettings
from api.kinds import NAMESPACE
from hub import Cache, Change, Hub
from planning.members import namespaces


class Namespaces:
    """The current namespaces of a cluster, and the Works that own them."""

    def __init__(self, cluster: Hub, *, settings: AgentSettings, told: Callable[[], None]) -> None:
        """Prepare the watch; `told` is called a short time after namespaces came or went."""
        self._cache = Cache(cluster, NAMESPACE)
        self._pause = settings.namespaces_pause.total_seconds()
        self._told = told
        self._telling: asyncio.TimerHandle | None = None
        self._is_known = False

    @property
    def found(self) -> dict[str, str] | None:
        """The Work that owns each namespace; None until the namespaces have been read."""
        return namespaces.owners(self._cache.items()) if self._is_known else None

    async def run(self) -> None:
        """Watch until cancelled."""
        self._cache.subscribe(self._on_change)
        following = asyncio.create_task(self._cache.run())
        try:
            await self._cache.ready()
            self._is_known = True
            self._tell_soon()
            await following
        finally:
            following.cancel()
            if self._telling is not None:
                self._telling.cancel()

    def _on_change(self, change: Change) -> None:
        before, after = ([each] if each else [] for each in (change.old, change.new))
        if self._is_known and namespaces.owners(before) != namespaces.owners(after):
            self._tell_soon()

    def _tell_soon(self) -> None:
        """Notify once for all changes in a short time: `kubectl apply -f` may create many."""
        if self._telling is None:
            self._telling = asyncio.get_running_loop().call_later(self._pause, self._tell)

    def _tell(self) -> None:
        self._telling = None
        self._told()
