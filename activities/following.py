"""Following the bindings of one placement, to complete the activities of its clusters.

One activity per stage watches the bindings of all its clusters, so waiting for a thousand costs the
same as for ten. It sends heartbeats; if its worker dies, Temporal starts it elsewhere, and the list
with which every watch starts makes up for missed changes (decision record 0003).
"""

import asyncio

from temporalio import activity
from temporalio.client import Client

from activities import stubs
from activities.follower import Follower
from activities.requests import FollowBindings
from activities.writing import Writing
from api.names import PARENT_PLACEMENT
from hub import SharedCaches


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
