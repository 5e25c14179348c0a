"""Rolling content out to one cluster: the two writes to its binding, and its removal.

Neither activity waits. If the cluster is not done at once, its activity is left open, and the
activity that follows the placement's bindings (`activities.following`) completes it.

contract: update-runs 8.4, 8.6 and 8.8, decision 17 (status is written before spec)
"""

import logging
from contextlib import suppress
from typing import Final

from temporalio import activity

from activities import stubs
from activities.errors import told_to_temporal
from activities.requests import (
    ApplyAgain,
    ClusterUpdated,
    ClusterWritten,
    RemoveCluster,
    UpdateCluster,
)
from activities.writing import Writing
from api.base import format_time
from api.bindings import Binding
from api.kinds import Kind
from api.names import APPLY_AGAIN, PARENT_PLACEMENT
from hub import Conflict, Hub, NotFound, SharedCaches
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

    @activity.defn(name=stubs.UPDATE_CLUSTER.name)
    async def update_cluster(self, request: UpdateCluster) -> ClusterUpdated:
        """Write the binding unless it is already as desired; complete when it reports success.

        Raises (retried): the hub is unreachable.
        """
        with told_to_temporal(), self._writing.noted():
            try:
                updated = await self._update(request, again=activity.info().attempt > 1)
            except Conflict:
                # The watched copy was slightly out of date, or someone else wrote first.
                updated = await self._update(request, again=True)
        if isinstance(updated, ClusterUpdated):
            return updated
        if bindings.progress(updated) is bindings.BindingProgress.FINISHED:
            logger.info("cluster is done")
            return ClusterUpdated()
        activity.heartbeat(ClusterWritten.of(updated))
        activity.raise_complete_async()

    @activity.defn(name=stubs.APPLY_AGAIN.name)
    async def apply_again(self, request: ApplyAgain) -> None:
        """Have the cluster's agent apply the content at once; another system may ignore it.

        The built-in placement passes the annotation on to the agent. The binding's spec stays as it
        is, so nothing else changes.
        """
        kind, namespace = request.run.scope.binding, request.run.namespace
        said = {"metadata": {"annotations": {APPLY_AGAIN: format_time(request.at)}}}
        with told_to_temporal(), suppress(NotFound):
            await self._hub.patch(kind, request.binding, said, namespace=namespace)

    @activity.defn(name=stubs.REMOVE_CLUSTER.name)
    async def remove_cluster(self, request: RemoveCluster) -> ClusterUpdated:
        """Delete the binding; complete when it is gone."""
        kind = request.run.scope.binding
        with told_to_temporal(), self._writing.noted():
            try:
                await self._hub.delete(kind, request.binding, namespace=request.run.namespace)
                found = await self._hub.get(kind, request.binding, namespace=request.run.namespace)
            except NotFound:
                return ClusterUpdated()
        if "deletionTimestamp" not in found["metadata"]:
            # A new binding with the same name, created since.
            return ClusterUpdated()
        activity.raise_complete_async()

    async def _update(self, request: UpdateCluster, *, again: bool) -> ClusterUpdated | Binding:
        """Write the binding and return it, or return why it must not be written.

        On another attempt (`again`), others may have changed the binding, and the watched copy may
        be older than what the earlier attempt wrote.
        """
        binding = await self._binding(request, again=again)
        if binding is None:
            return ClusterUpdated(gone=True)
        if self._taken(request, binding, again=again):
            return ClusterUpdated(preempted=True)
        written = await self._write(request, binding)
        logger.info("binding %s has snapshot %s", request.binding, request.index)
        return written

    async def _binding(self, request: UpdateCluster, *, again: bool) -> Binding | None:
        run = request.run
        if not again and (followed := self._followed(request)):
            return followed
        found = await self._hub.find(run.scope.binding, request.binding, namespace=run.namespace)
        return Binding.from_wire(found) if found else None

    def _followed(self, request: UpdateCluster) -> Binding | None:
        """Return the follower's copy of the binding, if it has to be written; this saves a read.

        The copy may be slightly out of date. Then the first write is refused. A binding that needs
        no write has to be read from the hub, because that must be true now.
        """
        run = request.run
        labels = f"{PARENT_PLACEMENT}={request.placement}"
        cache = self._caches.running(run.scope.binding, namespace=run.namespace, labels=labels)
        found = cache.get(request.binding, run.namespace) if cache else None
        binding = Binding.from_wire(found) if found else None
        return binding if binding and request.desired.patch(binding) else None

    def _taken(self, request: UpdateCluster, binding: Binding, *, again: bool) -> bool:
        """Return whether someone took the binding since an earlier attempt wrote it.

        If no attempt recorded what it wrote, return whether another run announced content of its
        own since this activity was scheduled or, if an earlier workflow of the run was lost, since
        that workflow handed the cluster out.
        """
        if (details := activity.info().heartbeat_details) and not ClusterWritten.model_validate(
            details[0]
        ).is_left(binding):
            return True
        run = request.run.name
        if since := request.handed_out:
            return bindings.announced_by_other(binding, run, since=since) or bindings.overtaken(
                binding, run, since=since
            )
        since = activity.info().scheduled_time
        return again and bindings.announced_by_other(binding, run, since=since)

    async def _write(self, request: UpdateCluster, binding: Binding) -> Binding:
        """Bring the binding to the desired content, with no write, one or two.

        Each write is refused if the binding is no longer what was read. Otherwise a worker that was
        paused, or a delayed request, could write the content of a run that ended long ago.
        """
        patch = request.desired.patch(binding)
        if not patch and bindings.announced(binding):
            return binding
        generation = binding.metadata.generation
        announced = await self._announce(request, binding, generation + bool(patch))
        if not patch:
            return announced
        run = request.run
        unchanged = {"op": "test", "path": "/metadata/generation", "value": generation}
        if request.notes_before:
            patch = [*bindings.note_before(announced, run=run.uid), *patch]
        written = Binding.from_wire(
            await self._hub.patch(
                run.scope.binding, request.binding, [unchanged, *patch], namespace=run.namespace
            )
        )
        if bindings.announced(written):
            return written
        # Someone else announced content between the two writes.
        return await self._announce(request, written, written.metadata.generation)

    async def _announce(self, request: UpdateCluster, binding: Binding, generation: int) -> Binding:
        run = request.run
        # Temporal's time, because it is compared with Temporal's and the clocks of workers differ.
        now = activity.info().started_time
        condition = bindings.rollout_started(
            index=request.index, run=run.name, generation=generation, now=now
        )
        metadata = {
            "name": request.binding,
            "resourceVersion": binding.metadata.resource_version,
        }
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
