"""Many agents in one process, sharing their watches on the hub.

contract: placement 8 and 11; decision record 0033
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from prometheus_client import CollectorRegistry

from agent.agent import Agent, AgentError
from agent.metrics import AgentMetrics
from agent.packing import packed_work
from agent.settings import AgentSettings
from agent.sources import Split
from api import names
from api.kinds import MEMBER_CLUSTER, WORK
from hub import BadConfiguration, Cache, Hub

logger = logging.getLogger(__name__)

Connect = Callable[[], Awaitable[Hub]]
"""Creates a client for a member; raises BadConfiguration."""


class AgentPool:
    """Runs the agents of any number of members. A failure of one does not affect the others."""

    def __init__(
        self,
        hub: Hub,
        *,
        settings: AgentSettings | None = None,
        metrics: AgentMetrics | None = None,
    ) -> None:
        """Create a pool without agents; `metrics` records results, not exported if left out."""
        self._hub = hub
        self._settings = settings or AgentSettings()
        self._metrics = metrics or AgentMetrics(CollectorRegistry())
        # One watch per kind for all agents, however many there are.
        self._works = Split(Cache(hub, WORK, keep=packed_work), by=lambda key: key[0])
        self._members = Split(Cache(hub, MEMBER_CLUSTER), by=lambda key: key[1])
        self._running: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Run until cancelled."""
        try:
            await asyncio.gather(self._works.cache.run(), self._members.cache.run())
        finally:
            for member in list(self._running):
                await self.stop(member)

    async def ready(self) -> None:
        """Wait until all MemberClusters and Works have been read."""
        await self._works.cache.ready()
        await self._members.cache.ready()

    def start(self, member: str, connect: Connect) -> None:
        """Start the agent of a member that has none yet."""
        self._running[member] = asyncio.create_task(
            self._serve(member, connect), name=f"agent of {member}"
        )

    async def stop(self, member: str) -> None:
        """Stop the agent of a member, if it has one, and leave the member as it is."""
        task = self._running.pop(member, None)
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            self._metrics.forget(member)

    async def _serve(self, member: str, connect: Connect) -> None:
        while True:
            try:
                # A process that may not write to the hub must not write to the members either.
                cluster = (await connect()).fenced(self._hub.fence)
                await self._run_agent(member, cluster)
            except BadConfiguration as error:
                logger.warning("cannot run an agent for member %s: %s", member, error)
                return
            except AgentError as error:
                logger.warning("cannot run an agent for member %s yet: %s", member, error)
            except Exception:
                logger.exception("the agent of member %s failed and will be restarted", member)
            await asyncio.sleep(self._settings.restart_pause.total_seconds())

    async def _run_agent(self, member: str, cluster: Hub) -> None:
        async with cluster:
            agent = Agent(
                member=member,
                hub=self._hub,
                cluster=cluster,
                settings=self._settings,
                works=self._works.part(names.member_namespace(member)),
                members=self._members.part(member),
                metrics=self._metrics,
            )
            await agent.run()
