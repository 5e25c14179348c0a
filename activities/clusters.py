"""Rolling content out to one cluster: the two writes to its binding, and its removal.

Neither activity waits. When the cluster is not done at once, the activity is left open, and the
one that follows the placement's bindings (`activities.following`) completes it.

contract: update-runs 8.4, 8.6 and 8.8, decision 17 (status is written before spec)
"""

import logging
from typing import Final

from temporalio import activity

from activities.errors import told_to_temporal
from activities.requests import ClusterUpdated, RemoveCluster, UpdateCluster
from activities.writing import Writing
from api.bindings import Binding
from api.kinds import Kind
from api.names import PARENT_PLACEMENT
from hub import Hub, NotFound, SharedCaches
from planning import bindings

logger = logging.getLogger(__name__)

MANAGER: Final = "fleetgate-engine"
"""Field manager of RolloutStarted; the work generator owns the other conditions."""


class ClusterActivities:
    """Effects on one binding of one run; every call may be repeated."""

    def __init__(self, hub: Hub, caches: SharedCaches, writing: Writing) -> None:
        self._hub = hub
        self._caches = caches
        self._writing = writing

    @activity.defn(name="update_cluster")
    async def update_cluster(self, request: UpdateCluster) -> ClusterUpdated:
        """Write the binding, unless it is as wanted already; then wait for its conditions.

        Raises (retried): the hub is away.
        """
        with told_to_temporal(), self._writing.noted():
            binding = await self._binding(request)
            if binding is None:
                return ClusterUpdated(gone=True)
            if self._taken(request, binding):
                return ClusterUpdated(preempted=preemption(request, binding))
            binding = await self._write(request, binding)
            logger.info("binding %s is for snapshot %s", request.binding, request.index)
        if bindings.progress(binding) is bindings.Progress.FINISHED:
            logger.info("cluster is done")
            return ClusterUpdated()
        activity.raise_complete_async()

    @activity.defn(name="remove_cluster")
    async def remove_cluster(self, request: RemoveCluster) -> ClusterUpdated:
        """Delete the binding; the activity is done when it is gone."""
        kind = request.run.scope.binding
        with told_to_temporal(), self._writing.noted():
            try:
                await self._hub.delete(kind, request.binding, namespace=request.run.namespace)
                found = await self._hub.get(kind, request.binding, namespace=request.run.namespace)
            except NotFound:
                return ClusterUpdated()
        if "deletionTimestamp" not in found["metadata"]:
            # Another one of the name, made since.
            return ClusterUpdated()
        activity.raise_complete_async()

    async def _binding(self, request: UpdateCluster) -> Binding | None:
        run = request.run
        # A later attempt asks: what is followed may be older than what the first one wrote.
        if activity.info().attempt == 1 and (followed := self._followed(request)):
            return followed
        found = await self._hub.find(run.scope.binding, request.binding, namespace=run.namespace)
        return Binding.from_wire(found) if found else None

    def _followed(self, request: UpdateCluster) -> Binding | None:
        """The binding as the run's follower has it, which saves a read, if it is to be written.

        It may be a moment old. Then the first write announces a wrong generation, which the
        look at the second one's answer mends; but that nothing is to be done must be true now.
        """
        run = request.run
        labels = f"{PARENT_PLACEMENT}={request.placement}"
        cache = self._caches.running(run.scope.binding, namespace=run.namespace, labels=labels)
        found = cache.get(request.binding, run.namespace) if cache else None
        binding = Binding.from_wire(found) if found else None
        return binding if binding and request.desired.patch(binding) else None

    def _taken(self, request: UpdateCluster, binding: Binding) -> bool:
        """Whether another run took the binding between two attempts of this activity."""
        info = activity.info()
        return info.attempt > 1 and bindings.announced_by_other(
            binding, request.run.name, since=info.scheduled_time
        )

    async def _write(self, request: UpdateCluster, binding: Binding) -> Binding:
        """Bring the binding to the wanted content: nothing, one write or two."""
        patch = request.desired.patch(binding)
        if not patch and bindings.announced(binding):
            return binding
        generation = binding.metadata.generation + bool(patch)
        announced = await self._announce(request, generation)
        if not patch:
            return announced
        run = request.run
        written = Binding.from_wire(
            await self._hub.patch(
                run.scope.binding, request.binding, patch, namespace=run.namespace
            )
        )
        if bindings.announced(written):
            return written
        # Somebody else changed the spec between the two writes.
        return await self._announce(request, written.metadata.generation)

    async def _announce(self, request: UpdateCluster, generation: int) -> Binding:
        run = request.run
        # Temporal's time: it is compared with Temporal's, and the clocks of workers may differ.
        now = activity.info().started_time
        condition = bindings.rollout_started(
            index=request.index, run=run.name, generation=generation, now=now
        )
        metadata = {"name": request.binding}
        if run.namespace:
            metadata["namespace"] = run.namespace
        kind: Kind = run.scope.binding
        written = await self._hub.apply(
            kind,
            {"metadata": metadata, "status": {"conditions": [condition.to_wire()]}},
            subresource="status",
            manager=MANAGER,
        )
        return Binding.from_wire(written)


def preemption(request: UpdateCluster, binding: Binding) -> str:
    """The text of a cluster that another run took."""
    return bindings.preempted(
        cluster=request.cluster,
        stage=request.stage,
        binding=request.run.reference(binding.metadata.name),
    )
