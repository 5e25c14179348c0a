"""The agent of one member: everything that a member does for the fleet."""

import asyncio
import logging
from typing import Final

from prometheus_client import CollectorRegistry

from agent.membership import Membership
from agent.metrics import AgentMetrics
from agent.packing import packed_work
from agent.settings import AgentSettings
from agent.sources import Source
from agent.works import Works
from api import names
from api.crds import definition, file_name
from api.kinds import APPLIED_WORK, CUSTOM_RESOURCE_DEFINITION, MEMBER_CLUSTER, WORK
from api.works import AppliedWork
from hub import Cache, Efforts, Forbidden, Hub, HubError, Invalid, Json
from planning.members.availability import Availability, judge

logger = logging.getLogger(__name__)

_RECONNECT_FIRST: Final = 0.5
_RECONNECT_MOST: Final = 5.0
"""Seconds between two attempts to reach a member that was unreachable when the agent started."""


class AgentError(Exception):
    """A problem that an operator has to fix before the agent can work; the text says how.

    All others are errors of `hub`: temporary ones are retried, refusals of single objects are
    reported in the status of their Work.
    """


class Agent:
    """The agent of one member. Many may run in one process; each keeps its own state.

    It waits for objects that others create: the MemberCluster and the namespace
    `fleet-member-<member>`.

    contract: placement 8 and 11
    """

    def __init__(
        self,
        *,
        member: str,
        hub: Hub,
        cluster: Hub,
        settings: AgentSettings | None = None,
        works: Source | None = None,
        members: Source | None = None,
        metrics: AgentMetrics | None = None,
    ) -> None:
        """Prepare an agent.

        Args:
            member: name of the member, which is the name of its MemberCluster.
            hub: client of the hub.
            cluster: client of the member's own API server.
            settings: settings of the agent; the defaults if left out.
            works: the Works of the member's namespace, packed; if left out, the agent watches them.
            members: its MemberCluster; if left out, the agent watches it.
            metrics: where results are recorded; not exported if left out.
        """
        self._settings = settings = settings or AgentSettings()
        self._member = member
        self._cluster = cluster
        self._efforts = Efforts()
        noted = (metrics or AgentMetrics(CollectorRegistry())).of(member)
        self._membership = Membership(
            member=member,
            hub=hub,
            cluster=cluster,
            settings=settings,
            cache=members or Cache(hub, MEMBER_CLUSTER, fields=f"metadata.name={member}"),
            efforts=self._efforts,
            metrics=noted,
        )
        self._works = Works(
            member=member,
            hub=hub,
            cluster=cluster,
            membership=self._membership,
            settings=settings,
            cache=works
            or Cache(hub, WORK, namespace=names.member_namespace(member), keep=packed_work),
            efforts=self._efforts,
            metrics=noted,
        )

    async def run(self) -> None:
        """Run until cancelled.

        Raises:
            AgentError: the member lacks something that the agent is not allowed to install.
        """
        parts = (
            self._membership.cache.run(),
            self._works.cache.run(),
            self._belong(),
            self._work(),
        )
        tasks = [asyncio.create_task(part) for part in parts]
        try:
            await asyncio.gather(*tasks)
        finally:
            # If one of them failed, the others must not continue without it.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._works.watches.close()

    async def ready(self) -> None:
        """Wait until the agent has read its Works and MemberCluster from the hub.

        The member itself may still be unreachable: its Works then wait, and the MemberCluster's
        status shows it.
        """
        await self._membership.cache.ready()
        await self._works.cache.ready()

    def missing(self) -> list[str]:
        """Return the watches that currently fail, each with the reason; empty if all work."""
        followed = (
            ("the MemberCluster on the hub", self._membership.cache.trouble),
            ("the Works on the hub", self._works.cache.trouble),
            ("the AppliedWorks on the member", self._works.records.trouble),
        )
        return [f"{what}: {trouble}" for what, trouble in followed if trouble]

    def hung(self) -> list[str]:
        """Return operations that have made no progress for `AgentSettings.hung_after`."""
        return self._efforts.hung(self._settings.hung_after)

    async def _belong(self) -> None:
        await self._membership.cache.ready()
        await self._membership.run()

    async def _work(self) -> None:
        await self._equip()
        # Decisions need complete data: without the MemberCluster, for example, every Work would
        # look as if its cluster had left the fleet.
        await self.ready()
        logger.info("agent of member %s is ready", self._member)
        await asyncio.gather(self._works.records.run(), self._works.controller.run())

    async def _equip(self) -> None:
        """Install what the agent needs on the member, as soon as it can be reached."""
        pause = _RECONNECT_FIRST
        while True:
            try:
                await _ensure_applied_work(self._cluster, member=self._member)
            except HubError as error:
                logger.warning("member %s cannot be reached: %s", self._member, error)
                await asyncio.sleep(pause)
                pause = min(2 * pause, _RECONNECT_MOST)
            else:
                return


# -- the definition of AppliedWork ---------------------------------------------------------


async def _ensure_applied_work(cluster: Hub, *, member: str) -> None:
    """Install the definition of AppliedWork on a member that does not serve it yet.

    Raises:
        AgentError: the agent may not install it; the text says what an operator can do.
        HubError: the member cannot be reached.
    """
    if await cluster.kind_for(APPLIED_WORK.api_version, APPLIED_WORK.kind) is not None:
        return
    body = definition(AppliedWork)
    try:
        installed = await cluster.apply(CUSTOM_RESOURCE_DEFINITION, body)
        await cluster.watch_until(CUSTOM_RESOURCE_DEFINITION, installed, _is_served)
    except (Forbidden, Invalid) as error:
        name = body["metadata"]["name"]
        raise AgentError(
            f"member {member!r} does not serve AppliedWork and refuses its definition {name} "
            f"({error}); allow the agent's user to create CustomResourceDefinitions there, or "
            f"apply deploy/crds/{file_name(AppliedWork)} to the member yourself"
        ) from error


def _is_served(installed: Json) -> bool:
    return judge(CUSTOM_RESOURCE_DEFINITION, installed) is Availability.AVAILABLE
