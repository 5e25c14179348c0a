"""Following the bindings of one placement, to complete the activities of its clusters.

One activity a stage watches for all of its clusters, so that waiting costs the same for ten and
for a thousand. It heartbeats; when its worker dies, Temporal starts it elsewhere, and the list
with which every watch begins repairs whatever was missed (design D1, D6).
"""

import asyncio
import logging
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from typing import Final

from temporalio import activity
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.client import AsyncActivityCancelledError, AsyncActivityHandle, Client
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from activities.requests import ClusterUpdated, FollowBindings, activity_of
from api.bindings import Binding
from api.names import PARENT_PLACEMENT
from hub import Cache, Change, Controller, Key, SharedCaches, Unavailable
from planning import bindings
from planning.bindings import Desired, Progress

logger = logging.getLogger(__name__)

HEARTBEAT_EVERY: Final = timedelta(seconds=1)
"""Temporal's client sends fewer of them, by the activity's heartbeat timeout."""
REPAIR_EVERY: Final = timedelta(seconds=5)
"""How often activities are looked for whose worker died before it wrote the binding."""
WRITING_TAKES: Final = timedelta(seconds=3)
"""An activity that has not written its binding after this long has lost its worker."""
WORKERS: Final = 16
"""Completions under way at once; each is one request to Temporal."""


class FollowingActivities:
    """Watches the hub on behalf of runs that have clusters in flight."""

    def __init__(self, caches: SharedCaches, client: Client) -> None:
        self._caches = caches
        self._client = client

    @activity.defn(name="follow_bindings")
    async def follow_bindings(self, request: FollowBindings) -> None:
        """Complete clusters' activities until the workflow cancels this one."""
        run = request.run
        labels = f"{PARENT_PLACEMENT}={request.placement}"
        use = self._caches.use(run.scope.binding, namespace=run.namespace, labels=labels)
        try:
            async with use as cache:
                await _Follower(request, cache, self._client).run()
        except asyncio.CancelledError:
            # Not wanted any more, or the run is over: the end. But a worker that stops has to
            # leave the following to another one.
            details = activity.cancellation_details()
            if details is None or details.worker_shutdown:
                raise


class _Follower:
    """The state of one following: which clusters were seen as the run wants them."""

    def __init__(self, request: FollowBindings, cache: Cache, client: Client) -> None:
        self._request = request
        self._cache = cache
        self._client = client
        self._clusters = {binding: cluster for cluster, binding in request.clusters.items()}
        self._held: dict[str, None] = {}
        self._failures: dict[str, str] = {}
        self._controller = Controller("follow", self._judge, workers=WORKERS)

    async def run(self) -> None:
        await self._cache.ready()
        unsubscribe = self._cache.subscribe(self._note)
        # Also those that are gone already, of which no change tells.
        for binding in self._clusters:
            self._controller.queue.add((self._request.run.namespace, binding))
        try:
            await asyncio.gather(self._controller.run(), self._heartbeat(), self._repair())
        finally:
            unsubscribe()

    def _note(self, change: Change) -> None:
        _, binding = change.key
        if binding in self._clusters:
            self._controller.queue.add(change.key)

    async def _heartbeat(self) -> None:
        while True:
            activity.heartbeat()
            await asyncio.sleep(HEARTBEAT_EVERY.total_seconds())

    async def _judge(self, key: Key) -> None:
        _, name = key
        cluster = self._clusters[name]
        found = self._cache.get(name, self._request.run.namespace)
        desired = self._desired(cluster)
        if desired is None:
            if found is None:
                await self._complete(cluster, ClusterUpdated())
            return
        if found is None:
            await self._lost(cluster, name)
            return
        await self._judge_update(cluster, Binding.from_wire(found), desired)

    async def _judge_update(self, cluster: str, binding: Binding, desired: Desired) -> None:
        if not bindings.held(binding, desired):
            await self._lost(cluster, binding.metadata.name)
            return
        self._held[cluster] = None
        match bindings.progress(binding):
            case Progress.FINISHED:
                await self._complete(cluster, ClusterUpdated())
            case Progress.FAILING:
                await self._report(cluster, bindings.failure(binding) or "")
            case Progress.UNDER_WAY:
                self._failures.pop(cluster, None)

    async def _lost(self, cluster: str, binding: str) -> None:
        """Somebody else changed a binding that was as the run wanted it (contract: 8.6a)."""
        if cluster not in self._held:
            return
        text = bindings.preempted(
            cluster=cluster,
            stage=self._request.stage,
            binding=self._request.run.reference(binding),
        )
        await self._complete(cluster, ClusterUpdated(preempted=text))

    def _desired(self, cluster: str) -> Desired | None:
        return self._request.overrides.get(cluster, self._request.desired)

    # -- Temporal --------------------------------------------------------------------------

    def _activity(self, cluster: str) -> AsyncActivityHandle:
        return self._client.get_async_activity_handle(
            workflow_id=self._request.run.workflow_id, run_id=None, activity_id=activity_of(cluster)
        )

    async def _complete(self, cluster: str, result: ClusterUpdated) -> None:
        # Not found: the activity is done, or was never scheduled. In the second case it will
        # see for itself that there is nothing left to do.
        await _tolerating_not_found(self._activity(cluster).complete(result))
        self._held.pop(cluster, None)

    async def _report(self, cluster: str, failure: str) -> None:
        """Show in the Temporal UI why a cluster is not done yet; nothing else comes of it."""
        if self._failures.get(cluster) == failure:
            return
        self._failures[cluster] = failure
        try:
            await _tolerating_not_found(self._activity(cluster).heartbeat(failure))
        except AsyncActivityCancelledError:
            logger.debug("cluster %s is not waited for any more", cluster)

    async def _repair(self) -> None:
        """Retry activities whose worker died between taking the task and writing the binding."""
        while True:
            await asyncio.sleep(REPAIR_EVERY.total_seconds())
            try:
                for cluster in await self._orphans():
                    logger.warning("cluster %s was never written, trying again", cluster)
                    error = ApplicationError("the worker was lost before it wrote the binding")
                    await _tolerating_not_found(self._activity(cluster).fail(error))
            except (RPCError, Unavailable) as error:
                logger.warning("cannot look for lost activities, again soon: %s", error)

    async def _orphans(self) -> list[str]:
        workflow = self._client.get_workflow_handle(self._request.run.workflow_id)
        description = await workflow.describe()
        written_by = datetime.now(UTC) - WRITING_TAKES
        waiting = {
            pending.activity_id
            for pending in description.raw_description.pending_activities
            if pending.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
            and pending.last_started_time.ToDatetime(UTC) < written_by
        }
        return [
            cluster
            for cluster in self._request.clusters
            if cluster not in self._held and activity_of(cluster) in waiting
        ]


async def _tolerating_not_found(call: Awaitable[None]) -> None:
    try:
        await call
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:
            raise Unavailable(f"Temporal: {error}") from error
