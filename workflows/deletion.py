"""The deletion stage, the last one: removing clusters that the placement no longer picks.

contract: update-runs 8.8; policies: 3
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import ClusterUpdated, FollowBindings, RemoveCluster
    from api.strategies import Stage
    from planning.runs import adopting, concurrency, marks
    from planning.runs.ledger import DELETION
    from workflows import calls
    from workflows.rollout import Rollout
    from workflows.stages import StageRun
    from workflows.updating import ClusterUpdates


class DeletionRun(StageRun):
    """The execution of the deletion stage: a stage without gates, of which nothing gets stuck."""

    def __init__(self, rollout: Rollout) -> None:
        # Entered first: how many clusters may be in flight is decided for the current stage.
        rollout.position.enter(DELETION)
        name = rollout.ledger.stage(DELETION).stage_name
        declared = Stage(name=name, max_concurrency=concurrency.MOST)
        super().__init__(rollout, DELETION, declared)
        self._updates = ClusterRemovals(rollout, DELETION, declared, stuck=self._stuck)

    async def run(self) -> None:
        """Delete all bindings, with as much concurrency as Temporal allows, and wait for the end.

        Raises:
            RunAborted: too many removals have failed.
        """
        rollout = self._rollout
        if rollout.position.resumes(DELETION):
            await rollout.until_certain()
        elif not rollout.budget.halts:
            await rollout.until_running()
            marks.run_progressing(rollout.ledger, workflow.now())
            marks.stage_started(rollout.ledger, DELETION, workflow.now())
        stage = rollout.ledger.stage(DELETION)
        found = adopting.open_clusters(stage) or adopting.failed_clusters(stage)
        if found or rollout.budget.halts:
            try:
                await self._update_clusters()
            finally:
                self._end_helpers()
            await rollout.until_running()
        marks.stage_succeeded(rollout.ledger, DELETION, workflow.now())

    def _start_helpers(self) -> None:
        # At once and not with the first removal: all begin in the same moment.
        summary = f"deletion: bindings of {self._rollout.placement}"
        follower = self._rollout.follow(self._updates.following(), summary=summary)
        self._helpers = [follower, asyncio.create_task(self._deadlines.run())]


class ClusterRemovals(ClusterUpdates):
    """Removes single clusters, all at once."""

    what_is_late = "removed"

    def following(self) -> FollowBindings:
        """Return the request for all clusters that are being removed."""
        rollout = self._rollout
        return FollowBindings(
            run=rollout.run,
            placement=rollout.placement,
            stage=self._stage.name,
            clusters=rollout.targets.leaving,
        )

    def _is_there(self, cluster: str) -> bool:
        return True  # one whose binding is gone is removed

    def _call(self, position: int) -> Coroutine[Any, Any, ClusterUpdated]:
        cluster = self._name(position)
        # An earlier workflow may have removed it already.
        binding = self._rollout.targets.leaving.get(cluster)
        if binding is None:
            return _gone()
        request = RemoveCluster(run=self._rollout.run, cluster=cluster, binding=binding)
        return calls.cluster(stubs.REMOVE_CLUSTER, request, cluster=cluster)


async def _gone() -> ClusterUpdated:
    return ClusterUpdated()
