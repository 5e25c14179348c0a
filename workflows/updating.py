"""The clusters of one stage: each from its hand-out to its end, and what is asked of activities.

contract: update-runs 8.4, 8.6
"""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, NoReturn

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import ApplyAgain, ClusterUpdated, FollowBindings, UpdateCluster
    from api.reasons import ConditionType
    from api.strategies import Stage
    from planning import conditions, failures
    from planning.bindings import Desired
    from planning.policies import texts
    from planning.policies.reporting import Setback
    from planning.runs import cluster_ends, concurrency, marks, phases
    from planning.runs.cluster_ends import ClusterEnd
    from workflows import calls
    from workflows.crews import Crew
    from workflows.rollout import Rollout
    from workflows.stuck import StuckWatch


class ClusterUpdates:
    """Updates single clusters of a stage, as many at once as the stage allows."""

    what_is_late = "updated"
    """What a cluster that takes too long has not been, in the message about that."""

    def __init__(self, rollout: Rollout, index: int, stage: Stage, *, stuck: StuckWatch) -> None:
        """`stuck` is notified of each cluster that ends."""
        self._rollout = rollout
        self._index = index
        self._stage = stage
        self._stuck = stuck
        self._clusters = rollout.ledger.stage(index).clusters
        at_once = concurrency.limit(stage.max_concurrency, clusters=len(self._clusters))
        self._slots = asyncio.Semaphore(rollout.position.limit(at_once))
        self._rules = rollout.rules.of_stage(stage.name)
        self.late = Crew()
        """Waits for clusters that were given up and may still be updated."""
        self._failed = False
        """Whether a cluster has ended the run, so that no other starts."""
        self._endings: dict[ClusterEnd, Callable[[int], Coroutine[Any, Any, None]]] = {
            ClusterEnd.UPDATED: self._succeed,
            ClusterEnd.PREEMPTED: self._fail_preempted,
            ClusterEnd.TIMED_OUT: self._time_out,
            ClusterEnd.SKIPPED: self._leave,
            ClusterEnd.LEFT: self._leave,
        }
        """How each end of a cluster is carried out."""

    def position(self, cluster: str) -> int:
        """Return the position of a cluster in the stage, by its name."""
        return next(each for each in range(len(self._clusters)) if self._name(each) == cluster)

    async def update(self, position: int, *, again: bool = False) -> None:
        """Update a cluster; `again` if a person has asked for it, which needs no failure budget.

        Raises:
            RunAborted: it cannot be updated; the run has failed.
        """
        has_turn = False
        while not has_turn:
            async with self._slots:
                if has_turn := await self._has_turn(position, again=again):
                    await self._see_through(position)
            if not has_turn:
                # Clusters that people retry meanwhile need the slot.
                await self._rollout.until_not_halted()

    async def _has_turn(self, position: int, *, again: bool) -> bool:
        """Wait for a cluster's turn; return whether it comes before a budget is exceeded."""
        if self._name(position) in self._rollout.position.in_flight:
            await self._rollout.until_turn_again()
            return True
        if again:
            await self._rollout.until_retried()
            return True
        return await self._rollout.until_turn()

    async def _see_through(self, position: int) -> None:
        """Hand a cluster out whose turn it is, and carry out how that ends."""
        if self._name(position) not in self._rollout.position.in_flight:
            if self._failed or phases.is_settled(self._clusters[position]):
                return
            if conditions.find(self._clusters[position].conditions, ConditionType.STARTED):
                self._rollout.setbacks.apply_again(self._name(position))
            self._begin(position, workflow.now())
        # While this waits, other clusters of the stage start and end, and a stop may arrive.
        end = await self._hand_out(position)
        await self._endings[end](position)

    def await_late(self, position: int) -> None:
        """Have a cluster that was given up count as failed no more once it is updated."""
        self.late.add(self._recover(position))

    async def apply_again(self) -> None:
        """Have agents apply the content at once when another attempt begins, until cancelled."""
        setbacks = self._rollout.setbacks
        while True:
            await workflow.wait_condition(lambda: bool(setbacks.to_apply))
            cluster = setbacks.to_apply[0]
            if binding := self._rollout.targets.selected.get(cluster):
                request = ApplyAgain(
                    run=self._rollout.run, cluster=cluster, binding=binding, at=workflow.now()
                )
                await calls.effect(stubs.APPLY_AGAIN, request, summary=f"{cluster}: again")
            setbacks.applied_again(cluster)

    def give_up(self) -> None:
        """Cancel the activities of clusters in flight, because nothing waits for them."""
        setbacks, in_flight = self._rollout.setbacks, self._rollout.position.in_flight
        for cluster in [each for each in setbacks.pending if each in in_flight]:
            calls.give_up(setbacks.pending.pop(cluster))

    async def _hand_out(self, position: int) -> ClusterEnd:
        """Write the cluster's binding and wait for its end; again if the write was lost."""
        cluster = self._name(position)
        given_up = self._rollout.setbacks.end_of(cluster)
        while not given_up.done():
            handed = self._handed_out(position)
            ends: list[asyncio.Future[Any]] = [handed, given_up]
            await workflow.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if not handed.done():
                break
            updated = self._rollout.setbacks.pending.pop(cluster).result()
            if not updated.done:
                # If the run may not continue at all, the guard ends it here with its own message.
                await self._rollout.until_looked()
                if given_up.done():
                    break
            end = cluster_ends.judge(
                preempted=updated.preempted,
                gone=updated.gone,
                forgotten=cluster in self._rollout.rechecks.lost,
            )
            if end is not ClusterEnd.LOST:
                return end
        return given_up.result()

    def _handed_out(self, position: int) -> asyncio.Task[ClusterUpdated]:
        """Return the activity of a cluster: the pending one, or else a new one."""
        pending, cluster = self._rollout.setbacks.pending, self._name(position)
        if cluster not in pending:
            pending[cluster] = asyncio.create_task(self._call(position))
        return pending[cluster]

    def _call(self, position: int) -> Coroutine[Any, Any, ClusterUpdated]:
        cluster = self._name(position)
        return calls.cluster(stubs.UPDATE_CLUSTER, self._request(position), cluster=cluster)

    def _begin(self, position: int, now: datetime) -> None:
        ledger = self._rollout.ledger
        self._rollout.begin(self._name(position), now)
        marks.cluster_started(ledger, self._index, position, now)
        marks.stage_started(ledger, self._index, now)
        # A paused run stays so for people, also while it updates clusters that they retry.
        if not (self._rollout.position.stuck or self._rollout.budget.paused):
            marks.run_progressing(ledger, now)

    # -- how a cluster ends -----------------------------------------------------------------

    async def _succeed(self, position: int) -> None:
        setbacks, cluster = self._rollout.setbacks, self._name(position)
        setbacks.ended(cluster)
        await self._rollout.end(cluster)
        marks.cluster_succeeded(self._rollout.ledger, self._index, position, workflow.now())
        setbacks.recovered(cluster, workflow.now())
        self._rollout.note_recovery()
        self._stuck.one_ended()

    async def _time_out(self, position: int) -> None:
        """Count the cluster as failed, and look at the budget; it may still be updated."""
        rollout, cluster = self._rollout, self._name(position)
        timeout = self._rules.timeout
        assert timeout is not None, "a cluster times out by its policy only"
        attempt = rollout.setbacks.ended(cluster)
        attempts = attempt.number if attempt else 1
        await rollout.end(cluster)
        rollout.setbacks.note(cluster, Setback(attempts=attempts, since=workflow.now()))
        text = texts.timed_out(self.what_is_late, timeout=timeout, attempts=attempts)
        marks.cluster_timed_out(rollout.ledger, self._index, position, text, workflow.now())
        self.await_late(position)
        rollout.look_at_budget(self._index)
        self._stuck.one_ended()

    async def _recover(self, position: int) -> None:
        rollout, cluster = self._rollout, self._name(position)
        # A lost workflow may have left it, and it may have left the run since.
        await rollout.until_certain()
        if not self._is_there(cluster):
            return
        handed = self._handed_out(position)
        await workflow.wait([handed])
        if not phases.has_failed(self._clusters[position]):
            return
        updated = rollout.setbacks.pending.pop(cluster).result()
        if updated.done:
            now = workflow.now()
            marks.cluster_succeeded(rollout.ledger, self._index, position, now)
            rollout.note_recovery()
            rollout.setbacks.recovered(cluster, now)
            if rollout.position.in_flight:
                rollout.look_at_budget(self._index)

    async def _leave(self, position: int) -> None:
        """Continue without the cluster, which the status says already."""
        rollout, cluster = self._rollout, self._name(position)
        rollout.setbacks.ended(cluster)
        await rollout.end(cluster)
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

    def _is_there(self, cluster: str) -> bool:
        """Return whether a cluster that was given up can still come to its end."""
        return cluster in self._rollout.targets.selected

    def _name(self, position: int) -> str:
        return self._clusters[position].cluster_name

    # -- activity requests -----------------------------------------------------------------

    def _request(self, position: int) -> UpdateCluster:
        rollout, cluster = self._rollout, self._name(position)
        return UpdateCluster(
            run=rollout.run,
            placement=rollout.placement,
            stage=self._stage.name,
            cluster=cluster,
            binding=rollout.targets.selected[cluster],
            index=rollout.ledger.status.resource_snapshot_index_used,
            desired=self._desired(position),
            handed_out=self._handed_out_at(position),
            # A rollback leaves the notes of the run that it rolls back, which may not be over yet.
            notes_before=bool(rollout.rules.fields) and not rollout.rules.rolls_back,
        )

    def _handed_out_at(self, position: int) -> datetime | None:
        """Return when the cluster was handed out before; None if this is the first time."""
        place, entry = self._rollout.position, self._clusters[position]
        if phases.has_failed(entry):
            return phases.started_at(entry)
        begun = place.recalled.in_flight.get(entry.cluster_name) if place.recalled else None
        # If a person had it handed out again since, that hand-out is a new one.
        return begun if begun == place.in_flight.get(entry.cluster_name) else None

    def _desired(self, position: int) -> Desired:
        status, cluster = self._rollout.ledger.status, self._clusters[position]
        assert status.applied_strategy is not None, "an initialized run has an apply strategy"
        return Desired(
            snapshot=self._rollout.snapshot,
            apply_strategy=status.applied_strategy,
            cluster_resource_overrides=cluster.cluster_resource_override_snapshots,
            resource_overrides=cluster.resource_override_snapshots,
        )

    def following(self) -> FollowBindings:
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
