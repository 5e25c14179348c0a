"""Following the bindings of one placement, to complete the activities of its clusters.

One activity per stage watches the bindings of all its clusters, so waiting for a thousand costs the
same as for ten. It sends heartbeats; if its worker dies, Temporal starts it elsewhere, and the list
with which every watch starts makes up for missed changes (decision record 0003). It completes the
activities of clusters whose bindings report that they are done, or that were taken by someone else.

contract: update-runs 8.4 (step 6), 8.6 and 8.8
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable
from datetime import UTC, timedelta
from time import monotonic
from typing import Final

from temporalio import activity
from temporalio.api.enums.v1 import PendingActivityState
from temporalio.api.workflow.v1 import PendingActivityInfo
from temporalio.client import AsyncActivityCancelledError, AsyncActivityHandle, Client
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from activities import stubs
from activities.heartbeats import heartbeating
from activities.requests import ClusterUpdated, ClusterWritten, FollowBindings, activity_of
from activities.writing import Writing
from api.bindings import Binding
from api.names import PARENT_PLACEMENT
from hub import Cache, Change, Controller, Json, Key, SharedCaches, Unavailable
from planning import bindings
from planning.bindings import BindingProgress, Desired


class FollowingActivities:
    """Watches the hub on behalf of runs that have clusters in flight."""

    def __init__(self, caches: SharedCaches, client: Client, writing: Writing) -> None:
        self._caches = caches
        self._client = client
        self._writing = writing

    @activity.defn(name=stubs.FOLLOW_BINDINGS.name)
    async def follow_bindings(self, request: FollowBindings) -> None:
        """Complete clusters' activities until the workflow cancels this one."""
        run = request.run
        labels = f"{PARENT_PLACEMENT}={request.placement}"
        use = self._caches.use(run.scope.binding, namespace=run.namespace, labels=labels)
        try:
            async with use as cache:
                await Follower(request, cache, self._client, self._writing).run()
        except asyncio.CancelledError:
            # Cancelled by the workflow, or the run is over: end normally. If the worker shuts
            # down instead, another worker has to take over, so raise.
            details = activity.cancellation_details()
            if details is None or details.worker_shutdown:
                raise


# -- the follower --------------------------------------------------------------------------


logger = logging.getLogger(__name__)

REPAIR_EVERY: Final = timedelta(seconds=5)
"""How often to look for activities whose worker died before it wrote the binding."""
REPAIR_FIRST: Final = timedelta(seconds=1)
"""The first such pause, if an earlier attempt of the follower was lost with its worker: activities
of clusters may have been lost too."""
WRITING_TAKES: Final = timedelta(seconds=3)
"""An activity on another worker that has not written its binding after this time has lost its
worker."""
SAYING_TAKES: Final = timedelta(milliseconds=200)
"""Time from writing a binding until Temporal knows of it."""
WORKERS: Final = 16
"""Maximum number of concurrent completions; each is one request to Temporal."""


class Follower:
    """Follows the bindings of one placement until cancelled.

    A cluster is held once its binding has been seen with the desired content, or being deleted if
    the run removes it.
    """

    def __init__(
        self, request: FollowBindings, cache: Cache, client: Client, writing: Writing
    ) -> None:
        self._request = request
        self._cache = cache
        self._client = client
        self._writing = writing
        self._clusters = {binding: cluster for cluster, binding in request.clusters.items()}
        self._held: dict[str, None] = {}
        self._removed: dict[str, None] = {}
        self._doubt = asyncio.Event()
        """Set when a binding that was never held may have been written and then changed."""
        self._since = activity.info().scheduled_time
        self._ahead = activity.info().started_time - _uptime()
        """Offset from this machine's monotonic clock to Temporal's time; its wall clock may be
        wrong."""
        self._failures: dict[str, str] = {}
        self._controller = Controller("follow", self._judge, workers=WORKERS)

    async def run(self) -> None:
        """Follow until cancelled."""
        await self._cache.ready()
        unsubscribe = self._cache.subscribe(self._note)
        # Including bindings that are already gone, for which no change will arrive.
        for binding in self._clusters:
            self._controller.queue.add((self._request.run.namespace, binding))
        try:
            async with heartbeating():
                await asyncio.gather(self._controller.run(), self._repair())
        finally:
            unsubscribe()

    def _note(self, change: Change) -> None:
        _, binding = change.key
        cluster = self._clusters.get(binding)
        if cluster is not None:
            self._remember(cluster, change)
            self._controller.queue.add(change.key)

    def _remember(self, cluster: str, change: Change) -> None:
        """Remember states that may be short-lived: the queue merges changes with the same key."""
        desired = self._desired(cluster)
        if change.old and (change.new is None or _uid(change.old) != _uid(change.new)):
            self._removed[cluster] = None
        if cluster in self._held or not (desired and change.new):
            return
        if bindings.held(Binding.from_wire(change.new), desired):
            self._held[cluster] = None

    async def _judge(self, key: Key) -> None:
        _, name = key
        cluster = self._clusters[name]
        found = self._cache.get(name, self._request.run.namespace)
        binding = Binding.from_wire(found) if found else None
        desired = self._desired(cluster)
        if desired is None:
            await self._judge_removal(cluster, binding)
        elif binding is None:
            await self._lost(cluster, gone=True)
        elif bindings.held(binding, desired):
            await self._judge_update(cluster, binding)
        else:
            await self._judge_change(cluster, binding)

    async def _judge_removal(self, cluster: str, binding: Binding | None) -> None:
        if binding is None or cluster in self._removed:
            await self._complete(cluster, ClusterUpdated())
        elif binding.metadata.deletion_timestamp:
            self._held[cluster] = None

    async def _judge_update(self, cluster: str, binding: Binding) -> None:
        self._held[cluster] = None
        match bindings.progress(binding):
            case BindingProgress.FINISHED:
                await self._complete(cluster, ClusterUpdated())
            case BindingProgress.FAILING:
                await self._report(cluster, binding, bindings.failure(binding) or "")
            case BindingProgress.UNDER_WAY:
                self._failures.pop(cluster, None)

    async def _judge_change(self, cluster: str, binding: Binding) -> None:
        """Handle a binding without the desired content: not written yet, or changed by others."""
        run = self._request.run.name
        if cluster in self._removed or bindings.overtaken(binding, run, since=self._since):
            self._doubt.set()
        await self._lost(cluster)

    async def _lost(self, cluster: str, *, gone: bool = False) -> None:
        """Complete a held cluster whose binding someone else changed (contract: 8.6a)."""
        if cluster not in self._held:
            return
        await self._complete(cluster, ClusterUpdated(preempted=True, gone=gone))

    def _desired(self, cluster: str) -> Desired | None:
        return self._request.overrides.get(cluster, self._request.desired)

    # -- Temporal --------------------------------------------------------------------------

    def _activity(self, cluster: str) -> AsyncActivityHandle:
        return self._client.get_async_activity_handle(
            workflow_id=self._request.run.workflow_id, run_id=None, activity_id=activity_of(cluster)
        )

    async def _complete(self, cluster: str, result: ClusterUpdated) -> None:
        # Not found: the activity is done, or was not scheduled yet. In the second case it will
        # find that there is nothing left to do.
        if await _tolerating_not_found(self._activity(cluster).complete(result)):
            ended = "cluster is done" if result.done else "cluster was taken by someone else"
            logger.info(ended, extra={"cluster": cluster})
        self._held.pop(cluster, None)

    async def _report(self, cluster: str, binding: Binding, failure: str) -> None:
        """Show in the Temporal UI why a cluster is not done yet, with no other effect."""
        if self._failures.get(cluster) == failure:
            return
        self._failures[cluster] = failure
        details = ClusterWritten.of(binding, failure=failure)
        try:
            await _tolerating_not_found(self._activity(cluster).heartbeat(details))
        except AsyncActivityCancelledError:
            logger.debug("the run no longer waits for the cluster", extra={"cluster": cluster})

    async def _repair(self) -> None:
        """Retry activities that nothing else will complete, so that they read the hub themselves.

        These are activities whose worker died between taking the task and writing the binding, and
        those whose binding was changed by others before the follower saw it.
        """
        pause = REPAIR_EVERY if activity.info().attempt == 1 else REPAIR_FIRST
        while True:
            await self._doubted(pause)
            pause = REPAIR_EVERY
            try:
                for cluster in await self._orphans():
                    logger.warning("checking a cluster again", extra={"cluster": cluster})
                    error = ApplicationError("the binding was never written, or changed afterwards")
                    await _tolerating_not_found(self._activity(cluster).fail(error))
            except (RPCError, Unavailable) as error:
                logger.warning("cannot look for lost activities, retrying soon: %s", error)

    async def _doubted(self, pause: timedelta) -> None:
        """Wait until a binding needs a check, but no longer than the pause."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause.total_seconds()):
                await self._doubt.wait()
                self._doubt.clear()
                # The activity may be about to record what it wrote.
                await asyncio.sleep(SAYING_TAKES.total_seconds())

    async def _orphans(self) -> list[str]:
        workflow = self._client.get_workflow_handle(self._request.run.workflow_id)
        description = await workflow.describe()
        pending = {
            each.activity_id: each
            for each in description.raw_description.pending_activities
            if each.state == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED
        }
        return [
            cluster
            for binding, cluster in self._clusters.items()
            if cluster not in self._held
            and (found := pending.get(activity_of(cluster)))
            and await self._is_orphan(found, binding)
        ]

    async def _is_orphan(self, pending: PendingActivityInfo, binding: str) -> bool:
        """Return whether a started activity whose cluster is not held has to be retried."""
        if pending.HasField("heartbeat_details"):
            (written,) = await self._client.data_converter.decode_wrapper(
                pending.heartbeat_details, [ClusterWritten]
            )
            found = self._cache.get(binding, self._request.run.namespace)
            return found is None or written.may_precede(Binding.from_wire(found))
        return pending.last_started_time.ToDatetime(
            UTC
        ) < self._ahead + _uptime() - WRITING_TAKES and not self._writing.includes(
            self._request.run.workflow_id, pending.activity_id, attempt=pending.attempt
        )


def _uptime() -> timedelta:
    return timedelta(seconds=monotonic())


def _uid(body: Json) -> str:
    uid: str = body["metadata"]["uid"]
    return uid


async def _tolerating_not_found(call: Awaitable[None]) -> bool:
    """Await a call to an activity; return whether the activity was found."""
    try:
        await call
    except RPCError as error:
        if error.status != RPCStatusCode.NOT_FOUND:
            raise Unavailable(f"Temporal: {error}") from error
        return False
    return True
