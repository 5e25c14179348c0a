"""One stage: the gates before it, its clusters with limited concurrency, the gates after it.

contract: update-runs 8.1 to 8.7
"""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, NoReturn

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import FollowBindings, UpdateCluster
    from api.strategies import Stage
    from planning import failures
    from planning.bindings import Desired
    from planning.errors import joined
    from planning.runs import adopting, cluster_ends, concurrency, marks
    from planning.runs.cluster_ends import ClusterEnd
    from planning.runs.initialization import Targets
    from workflows import calls
    from workflows.gates import pass_gates
    from workflows.rollout import Rollout
    from workflows.stuck import StuckWatch


class StageRun:
    """The execution of one stage, from the gates before it to the gates after it."""

    def __init__(self, rollout: Rollout, index: int, stage: Stage) -> None:
        self._rollout = rollout
        self._index = index
        self._stage = stage
        self._clusters = rollout.ledger.stage(index).clusters
        self._stuck = StuckWatch(rollout, index)
        at_once = concurrency.limit(stage.max_concurrency, clusters=len(self._clusters))
        self._slots = asyncio.Semaphore(at_once)
        self._failed = False
        self._endings: dict[ClusterEnd, Callable[[int], Coroutine[Any, Any, None]]] = {
            ClusterEnd.UPDATED: self._succeed,
            ClusterEnd.PREEMPTED: self._fail_preempted,
        }
        """How each end of a cluster is carried out."""

    async def run(self) -> None:
        """Run the stage to its end.

        Raises:
            RunAborted: a cluster cannot be updated; the stage and the run have failed.
        """
        rollout, ledger = self._rollout, self._rollout.ledger
        if not rollout.position.resumes(self._index):
            await rollout.until_running()
            marks.run_progressing(ledger, workflow.now())
        if not self._clusters:
            marks.stage_skipped(ledger, self._index, workflow.now())
            return
        if self._stage.before_stage_tasks:
            await pass_gates(rollout, "before", self._stage.before_stage_tasks)
        if adopting.open_clusters(ledger.stage(self._index)):
            await self._update_clusters()
        await pass_gates(rollout, "after", self._stage.after_stage_tasks)
        # A stop may have come while the last approval was being accepted.
        await rollout.until_running()
        marks.run_progressing(ledger, workflow.now())
        marks.stage_succeeded(ledger, self._index, workflow.now())

    # -- clusters --------------------------------------------------------------------------

    async def _update_clusters(self) -> None:
        helpers = [asyncio.create_task(self._stuck.run()), asyncio.create_task(self._follow())]
        positions = adopting.open_clusters(self._rollout.ledger.stage(self._index))
        try:
            await _all_or_first_error([self._update(position) for position in positions])
        finally:
            for helper in helpers:
                helper.cancel()

    async def _follow(self) -> None:
        """Keep a follower of the bindings running while clusters are in flight, not while stopped.

        Replace it when the targets change.
        """
        rollout = self._rollout
        while True:
            await workflow.wait_condition(lambda: bool(rollout.position.in_flight))
            summary = f"{self._stage.name}: bindings of {rollout.placement}"
            handle = rollout.follow(self._following(), summary=summary)
            try:
                await self._until_others_are_followed(rollout.targets)
            finally:
                handle.cancel()

    async def _until_others_are_followed(self, targets: Targets) -> None:
        rollout = self._rollout
        await workflow.wait_condition(
            lambda: (
                (rollout.intent.stop_observed and not rollout.position.in_flight)
                or rollout.targets is not targets
            )
        )

    async def _update(self, position: int) -> None:
        async with self._slots:
            if self._name(position) in self._rollout.position.in_flight:
                await self._rollout.until_turn_again()
            else:
                await self._rollout.until_turn()
                if self._failed:
                    return
                self._begin(position, workflow.now())
            # While this waits, other clusters of the stage start and end, and a stop may arrive.
            end = await self._hand_out(position)
            await self._endings[end](position)

    async def _hand_out(self, position: int) -> ClusterEnd:
        """Write the cluster's binding and wait for its end; again if the write was lost."""
        while True:
            request = self._request(position)
            updated = await calls.cluster(stubs.UPDATE_CLUSTER, request, cluster=request.cluster)
            if not updated.done:
                # If the run may not continue at all, the guard ends it here with its own message.
                await self._rollout.until_looked()
            end = cluster_ends.judge(
                preempted=updated.preempted,
                gone=updated.gone,
                forgotten=request.cluster in self._rollout.rechecks.lost,
            )
            if end is not ClusterEnd.LOST:
                return end

    def _begin(self, position: int, now: datetime) -> None:
        ledger = self._rollout.ledger
        self._rollout.begin(self._name(position), now)
        marks.cluster_started(ledger, self._index, position, now)
        marks.stage_started(ledger, self._index, now)
        if not self._rollout.position.stuck:
            marks.run_progressing(ledger, now)

    async def _succeed(self, position: int) -> None:
        await self._rollout.end(self._name(position))
        marks.cluster_succeeded(self._rollout.ledger, self._index, position, workflow.now())
        self._stuck.one_ended()

    async def _fail_preempted(self, position: int) -> NoReturn:
        rollout, cluster = self._rollout, self._name(position)
        # Set before the slot is released, so that no other cluster takes it.
        self._failed = True
        rollout.position.end(cluster)
        failure = failures.CLUSTER_PREEMPTED
        named = {
            "cluster": cluster,
            "stage": self._stage.name,
            "binding": rollout.run.reference(rollout.targets.selected[cluster]),
        }
        text = failure.words(**named)
        marks.cluster_failed(rollout.ledger, self._index, position, text, workflow.now())
        raise failure.error(**named)

    def _name(self, position: int) -> str:
        return self._clusters[position].cluster_name

    # -- activity requests -----------------------------------------------------------------

    def _request(self, position: int) -> UpdateCluster:
        rollout, recalled = self._rollout, self._rollout.position.recalled
        cluster = self._name(position)
        return UpdateCluster(
            run=rollout.run,
            placement=rollout.placement,
            stage=self._stage.name,
            cluster=cluster,
            binding=rollout.targets.selected[cluster],
            index=rollout.ledger.status.resource_snapshot_index_used,
            desired=self._desired(position),
            handed_out=recalled.in_flight.get(cluster) if recalled else None,
        )

    def _desired(self, position: int) -> Desired:
        status, cluster = self._rollout.ledger.status, self._clusters[position]
        assert status.applied_strategy is not None, "an initialized run has an apply strategy"
        return Desired(
            snapshot=self._rollout.snapshot,
            apply_strategy=status.applied_strategy,
            cluster_resource_overrides=cluster.cluster_resource_override_snapshots,
            resource_overrides=cluster.resource_override_snapshots,
        )

    def _following(self) -> FollowBindings:
        """Return the request for all clusters of the stage; most share one desired content."""
        rollout = self._rollout
        selected = rollout.targets.selected
        # The bindings of a run that was adopted while stopped have not been checked yet, so some
        # clusters may have none.
        wanted = {
            name: self._desired(each)
            for each in range(len(self._clusters))
            if (name := self._name(each)) in selected
        }
        plain = self._desired(0).model_copy(
            update={"cluster_resource_overrides": [], "resource_overrides": []}
        )
        return FollowBindings(
            run=rollout.run,
            placement=rollout.placement,
            stage=self._stage.name,
            clusters={name: selected[name] for name in wanted},
            desired=plain,
            overrides={name: each for name, each in wanted.items() if each != plain},
        )


async def _all_or_first_error(coroutines: list[Coroutine[Any, Any, None]]) -> None:
    """Run all of them and stop at the first error, in an order that a replay repeats.

    Raises:
        RunAborted: a cluster failed; simultaneous errors are joined (contract: 5).
    """
    tasks = [asyncio.create_task(each) for each in coroutines]
    try:
        await workflow.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        errors = [error for task in tasks if task.done() and (error := task.exception())]
        if errors:
            raise joined(errors)
    finally:
        for task in tasks:
            calls.give_up(task)
