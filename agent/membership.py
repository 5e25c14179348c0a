"""Membership in the fleet: join, heartbeat and leave, all through the MemberCluster.

contract: placement 11
"""

import asyncio
import logging
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final, NoReturn

from agent.metrics import MemberMetrics
from agent.settings import STATUS_MANAGER, AgentSettings
from agent.sources import Source
from api.kinds import MEMBER_CLUSTER, NAMESPACE, NODE, POD
from api.members import MemberCluster, MemberClusterStatus
from hub import Cache, Change, Conflict, Efforts, Hub, HubError, Json, Lane, NotFound
from planning.members import member_conditions, namespaces, properties
from planning.members.properties import Observed

logger = logging.getLogger(__name__)

_JITTER = 0.05
"""Fraction by which heartbeats are spread, so that many members do not report at the same time."""


class Membership:
    """Watches the MemberCluster of one cluster and writes its status."""

    def __init__(
        self,
        *,
        member: str,
        hub: Hub,
        cluster: Hub,
        settings: AgentSettings,
        cache: Source,
        efforts: Efforts,
        metrics: MemberMetrics,
    ) -> None:
        self._member = member
        self._hub = hub
        # A lane of its own, so that heartbeats get through however much is being applied.
        self._alive = hub.on(Lane.HEARTBEATS)
        self._cluster = cluster.on(Lane.HEARTBEATS)
        self._settings = settings
        self._efforts = efforts
        self._metrics = metrics
        self._properties = Properties(cluster, settings=settings)
        self._changed = asyncio.Event()
        self._namespaces = Namespaces(cluster, settings=settings, notify=self._changed.set)
        self.cache = cache

    def subscribe(self, notify: Callable[[], None]) -> None:
        """Call back whenever the cluster joins or leaves the fleet."""
        self.cache.subscribe(lambda change: notify() if _moves(change) else None)

    @property
    def is_member(self) -> bool:
        """True while the cluster belongs to the fleet, as far as the watch knows."""
        return _is_member(self.cache.get(self._member))

    async def confirm(self) -> bool:
        """Return whether the cluster belongs to the fleet, read from the hub instead of the cache.

        Another watch may deliver the consequences of a removal before this one delivers its cause.
        """
        return _is_member(await self._hub.find(MEMBER_CLUSTER, self._member))

    async def run(self) -> None:
        """Report until cancelled."""
        self.cache.subscribe(self._on_change)
        if not self._settings.collect_namespaces:
            await self._keep_reporting()
        following = asyncio.create_task(self._namespaces.run())
        try:
            await self._keep_reporting()
        finally:
            following.cancel()

    async def _keep_reporting(self) -> NoReturn:
        while True:
            self._changed.clear()
            with self._efforts.under_way("the heartbeat"):
                pause = await self._report()
            try:
                async with asyncio.timeout(pause.total_seconds() if pause else None):
                    await self._changed.wait()
            except TimeoutError:
                continue

    def _on_change(self, change: Change) -> None:
        if _moves(change) or _generation(change.old) != _generation(change.new):
            self._changed.set()

    async def _report(self) -> timedelta | None:
        """Report the member's state; return when to report it again, or None for never."""
        body = self.cache.get(self._member)
        if body is None:
            return None
        member = MemberCluster.from_wire(body)
        period = timedelta(seconds=member.spec.heartbeat_period_seconds)
        try:
            if _is_member(body):
                await self._beat(member)
                return period * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311
            await self._leave(member)
        except (NotFound, Conflict):
            # Removed or recreated meanwhile; the watch is about to deliver that.
            return self._settings.hub_retry
        except HubError as error:
            logger.warning("member %s: cannot report to the hub: %s", self._member, error)
            return min(period, self._settings.hub_retry)
        return None

    async def _beat(self, member: MemberCluster) -> None:
        problem, _ = await asyncio.gather(self._problem(), self._properties.renew())
        now = datetime.now(UTC)
        status = properties.reported(
            member_conditions.alive(member, problem=problem, now=now),
            self._properties.observed,
            member=member,
            problem=self._properties.problem,
            now=now,
        )
        found = self._namespaces.found
        if found is not None:
            limit = self._settings.namespaces_limit
            status = namespaces.reported(status, found, member=member, limit=limit, now=now)
        await self._write(member, status)
        self._metrics.beat()

    async def _leave(self, member: MemberCluster) -> None:
        if not member_conditions.has_left(member):
            await self._write(member, member_conditions.left(member, now=datetime.now(UTC)))
            logger.info("member %s has left the fleet", self._member)

    async def _problem(self) -> str:
        try:
            await self._cluster.version()
        except HubError as error:
            return f"the member's API server does not answer: {error}"
        return ""

    async def _write(self, member: MemberCluster, status: MemberClusterStatus) -> None:
        # The uid keeps this from being written to a MemberCluster that was recreated meanwhile.
        body = {
            "metadata": {"name": self._member, "uid": member.metadata.uid},
            "status": status.to_wire(),
        }
        await self._alive.apply(MEMBER_CLUSTER, body, subresource="status", manager=STATUS_MANAGER)


def _is_member(body: Json | None) -> bool:
    return body is not None and "deletionTimestamp" not in body["metadata"]


def _generation(body: Json | None) -> tuple[str, int] | None:
    return (body["metadata"]["uid"], body["metadata"]["generation"]) if body else None


def _moves(change: Change) -> bool:
    return _belongs(change.old) != _belongs(change.new)


def _belongs(body: Json | None) -> tuple[str, bool] | None:
    """Return a key that differs between a member that stayed and one that left and rejoined."""
    return (body["metadata"]["uid"], _is_member(body)) if body else None


# -- nodes and pods ------------------------------------------------------------------------


_RUNNING: Final = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"
"""Selects the pods that use resources of a node."""


class Properties:
    """The properties of a cluster when it was last checked."""

    def __init__(self, cluster: Hub, *, settings: AgentSettings) -> None:
        self._cluster = cluster
        self._settings = settings
        self.observed: Observed | None = None
        """None until the cluster has been checked."""
        self.problem = ""
        """Why the last check failed; empty if it succeeded."""
        self._due = 0.0

    async def renew(self) -> None:
        """Check again if the last check is too old; a failure is recorded in `problem`."""
        clock = asyncio.get_running_loop().time
        if clock() < self._due:
            return
        patience = self._settings.properties_patience
        try:
            async with asyncio.timeout(patience.total_seconds()):
                self.observed = await self._look()
            self.problem = ""
            self._due = clock() + self._settings.properties_age.total_seconds()
        except HubError as error:
            self.problem = str(error)
        except TimeoutError:
            self.problem = f"no answer within {patience.total_seconds():g} s"

    async def _look(self) -> Observed:
        version = await self._cluster.version()
        nodes = await self._cluster.list(NODE)
        pods = await self._cluster.list(POD, fields=_RUNNING)
        return properties.observe(nodes.items, pods.items, version=version, now=datetime.now(UTC))


# -- namespaces ----------------------------------------------------------------------------


class Namespaces:
    """The current namespaces of a cluster, and the Works that own them."""

    def __init__(
        self, cluster: Hub, *, settings: AgentSettings, notify: Callable[[], None]
    ) -> None:
        """Prepare the watch; `notify` is called a short time after namespaces came or went."""
        self._cache = Cache(cluster, NAMESPACE)
        self._pause = settings.namespaces_pause.total_seconds()
        self._notify_of = notify
        self._to_notify: asyncio.TimerHandle | None = None
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
            if self._to_notify is not None:
                self._to_notify.cancel()

    def _on_change(self, change: Change) -> None:
        before, after = ([each] if each else [] for each in (change.old, change.new))
        if self._is_known and namespaces.owners(before) != namespaces.owners(after):
            self._tell_soon()

    def _tell_soon(self) -> None:
        """Notify once for all changes in a short time: `kubectl apply -f` may create many."""
        if self._to_notify is None:
            self._to_notify = asyncio.get_running_loop().call_later(self._pause, self._notify)

    def _notify(self) -> None:
        self._to_notify = None
        self._notify_of()
