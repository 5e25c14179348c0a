"""The watches on the objects that one run depends on, and which of their changes can affect it.

contract: update-runs 9
"""

import asyncio
from collections.abc import Callable, Hashable
from contextlib import AsyncExitStack
from typing import Final, NamedTuple

from api import names
from api.bindings import Binding
from api.kinds import MEMBER_CLUSTER, Scope
from api.placements import Placement
from api.policies import PolicySnapshot
from api.runs import UpdateRun
from hub import Cache, Change, Json, Key, SharedCaches, labels_of
from planning.runs import observing, stages
from planning.runs.facts import HubFacts

# -- what can affect a run -----------------------------------------------------------------


Deciding = Callable[[Json], object]
"""Extracts the relevant part of an object, which is only compared."""


def part_of_binding(body: Json) -> Hashable:
    """Return the relevant part of a binding, without parsing it, because this is called often.

    The change from Scheduled to Bound is not part of it: the run makes it itself.
    """
    spec = body["spec"]
    leaving = spec["state"] == "Unscheduled", "deletionTimestamp" in body["metadata"]
    return spec["targetCluster"], spec["schedulingPolicySnapshotName"], leaving


def part_of_policy(body: Json) -> object:
    """Return the facts about a policy snapshot from which a run is planned."""
    return observing.policy_fact(PolicySnapshot.from_wire(body))


def part_of_cluster(body: Json) -> object:
    """Return a cluster's labels; not its heartbeat, which changes all the time."""
    return body["metadata"].get("labels", {})


def differs(change: Change, deciding: Deciding) -> bool:
    """Return whether the relevant part differs; a missing object differs from any other."""
    old, new = (deciding(body) if body else None for body in (change.old, change.new))
    return old != new


# -- the watches ---------------------------------------------------------------------------


_LATEST: Final = f"{names.IS_LATEST_SNAPSHOT}=true"


class _Watched(NamedTuple):
    policies: Cache
    bindings: Cache
    clusters: Cache


class RunDependencies:
    """The current state of a run's placement and of the clusters on the hub."""

    def __init__(self, run: UpdateRun, *, scope: Scope, placements: Cache) -> None:
        self._scope = scope
        self._placements = placements
        self.placement: Key = (run.metadata.namespace, run.spec.placement_name)
        self._watched: _Watched | None = None

    async def follow(self, shared: SharedCaches, *, changed: Callable[[], None]) -> None:
        """Watch until cancelled, and call `changed` when a change may affect the run.

        The watch on the placement's bindings is shared with the run's activities, if they run in
        this process.
        """
        namespace, placement = self.placement
        labels = f"{names.PARENT_PLACEMENT}={placement}"
        bindings = shared.use(self._scope.binding, namespace=namespace, labels=labels)
        uses = (
            (shared.use(self._scope.policy_snapshot, labels=_LATEST), part_of_policy),
            (bindings, part_of_binding),
            (shared.use(MEMBER_CLUSTER, metadata_only=True), part_of_cluster),
        )
        async with AsyncExitStack() as stack:
            caches = []
            for use, decides in uses:
                cache = await stack.enter_async_context(use)
                stack.callback(cache.subscribe(self._noter(decides, changed)))
                caches.append(cache)
            self._watched = _Watched(*caches)
            changed()
            await asyncio.Event().wait()

    def facts(self, run: UpdateRun) -> HubFacts | None:
        """Return the facts from which the run would be planned now; None until all are listed."""
        if self._watched is None:
            return None
        policies, bindings, clusters = self._watched
        namespace, name = self.placement
        found = self._placements.get(name, namespace)
        return observing.hub_facts(
            run.spec,
            generation=run.metadata.generation,
            placement=Placement.from_wire(found) if found else None,
            policies=[
                PolicySnapshot.from_wire(each) for each in policies.items() if self._owns(each)
            ],
            bindings=map(Binding.from_wire, bindings.items()),
            labels_of=lambda cluster: labels_of(clusters.get(cluster)),
            keys=stages.deciding_labels(run.status.staged_update_strategy_snapshot),
        )

    def _noter(self, decides: Deciding, changed: Callable[[], None]) -> Callable[[Change], None]:
        def note(change: Change) -> None:
            if differs(change, decides) and self._concerns(decides, change):
                changed()

        return note

    def _concerns(self, decides: Deciding, change: Change) -> bool:
        """Return whether a change is about the run's placement or one of its clusters."""
        seen = change.new or change.old
        if decides is part_of_policy:
            return seen is not None and self._owns(seen)
        if decides is part_of_cluster and self._watched is not None:
            bound = (each["spec"]["targetCluster"] for each in self._watched.bindings.items())
            return change.key[1] in bound
        return True

    def _owns(self, snapshot: Json) -> bool:
        meta = snapshot["metadata"]
        parent = meta.get("labels", {}).get(names.PARENT_PLACEMENT)
        return (meta.get("namespace", ""), parent) == self.placement
