"""Following the bindings of one placement, to complete the activities of its clusters.

One activity a stage watches for all of its clusters, so that waiting costs the same for ten and
for a thousand. It heartbeats; when its worker dies, Temporal starts it elsewhere, and the list
with which every watch begins repairs whatever was missed (design D1, D6).
"""

import asyncio

from temporalio import activity
from temporalio.client import Client

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

    @activity.defn(name="follow_bindings")
    async def follow_bindings(self, request: FollowBindings) -> None:
        """Complete clusters' activities until the workflow cancels this one."""
        run = request.run
        labels = f"{PARENT_PLACEMENT}={request.placement}"
        use = self._caches.use(run.scope.binding, namespace=run.namespace, labels=labels)
        try:
            async with use as cache:
                await Follower(request, cache, self._client, self._writing).run()
        except asyncio.CancelledError:
            # Not wanted any more, or the run is over: the end. But a worker that stops has to
            # leave the following to another one.
            details = activity.cancellation_details()
            if details is None or details.worker_shutdown:
                raise
