"""One stage: the gates before it, its clusters with limited concurrency, the gates after it.

contract: update-runs 8.1 to 8.7
"""

import asyncio
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from api.runs import StageStatus
    from api.strategies import Stage
    from planning.runs import adopting, marks
    from planning.runs.initialization import Targets
    from workflows.budget_actions import keep_to_budget
    from workflows.crews import Crew
    from workflows.deadlines import Deadlines
    from workflows.gates import pass_gates
    from workflows.rollout import Rollout
    from workflows.stuck import StuckWatch
    from workflows.updating import ClusterUpdates


class StageRun:
    """The execution of one stage, from the gates before it to the gates after it."""

    def __init__(self, rollout: Rollout, index: int, stage: Stage) -> None:
        self._rollout = rollout
        self._index = index
        self._stage = stage
        self._stuck = StuckWatch(rollout, index)
        self._updates = ClusterUpdates(rollout, index, stage, stuck=self._stuck)
        self._deadlines = Deadlines(rollout, rollout.rules.of_stage(stage.name), stage=stage.name)
        self._crew = Crew()
        self._known = 0
        """How many clusters of the stage are taken up; others joined since."""
        self._helpers: list[asyncio.Task[Any]] = []

    async def run(self) -> None:
        """Run the stage to its end.

        Raises:
            RunAborted: a cluster cannot be updated; the stage and the run have failed.
        """
        rollout, ledger = self._rollout, self._rollout.ledger
        # Then an earlier workflow was in the middle of the clusters.
        halted = rollout.budget.halts
        await self._begin()
        if not ledger.stage(self._index).clusters:
            marks.stage_skipped(ledger, self._index, workflow.now())
            return
        if self._stage.before_stage_tasks and not halted:
            await pass_gates(rollout, "before", self._stage.before_stage_tasks)
        try:
            await self._update_clusters()
            await pass_gates(rollout, "after", self._stage.after_stage_tasks)
        finally:
            self._end_helpers()
        await self._succeed()

    async def run_again(self) -> None:
        """Hand out again, after all stages, the clusters of this one that people decided about.

        Raises:
            RunAborted: a cluster cannot be updated; the stage and the run have failed.
        """
        await self._begin()
        try:
            await self._update_clusters()
        finally:
            self._end_helpers()
        await self._succeed()

    async def _begin(self) -> None:
        rollout = self._rollout
        if not (rollout.budget.halts or rollout.position.resumes(self._index)):
            await rollout.until_running()
            marks.run_progressing(rollout.ledger, workflow.now())

    async def _succeed(self) -> None:
        rollout, ledger = self._rollout, self._rollout.ledger
        # A stop may have come while the last approval was being accepted.
        await rollout.until_running()
        marks.run_progressing(ledger, workflow.now())
        marks.stage_succeeded(ledger, self._index, workflow.now())

    # -- clusters --------------------------------------------------------------------------

    async def _update_clusters(self) -> None:
        """Update the clusters that are open, until all are dealt with and the budget allows it.

        Raises:
            RunAborted: a cluster cannot be updated, or too many have failed.
        """
        stage = self._rollout.ledger.stage(self._index)
        positions, given_up = self._open_clusters(stage), adopting.failed_clusters(stage)
        self._known = len(stage.clusters)
        if not (positions or given_up or self._rollout.budget.halts or self._rollout.may_grow):
            self._rollout.position.fill()
            return
        self._start_helpers()
        for position in positions:
            self._crew.add(self._updates.update(position))
        for position in given_up:
            self._updates.await_late(position)
        self._rollout.position.begin_updates()
        taking_up = asyncio.create_task(self._keep_taking_up())
        try:
            await self._until_dealt_with()
            self._rollout.position.fill()
        finally:
            self._rollout.position.end_updates()
            taking_up.cancel()
            self._crew.give_up()
            self._updates.give_up()
        if self._updates.late.idle:
            self._end_helpers()

    def _start_helpers(self) -> None:
        helpers = (
            *(self._stuck.run(), self._deadlines.run(), self._follow()),
            self._updates.apply_again(),
        )
        self._helpers = [asyncio.create_task(each) for each in helpers]

    def _open_clusters(self, stage: StageStatus) -> list[int]:
        """Return the positions of the clusters to update now, those in flight first."""
        recalled = self._rollout.position.recalled
        if self._rollout.position.resumes(self._index) and recalled and recalled.waiting == "after":
            return []  # those handed out again since the gates opened are due after all stages
        return adopting.open_clusters(stage)

    async def _until_dealt_with(self) -> None:
        """Wait until all clusters are dealt with and the failure budget allows to continue.

        Raises:
            RunAborted: a cluster cannot be updated, or too many have failed.
        """
        rollout, crew = self._rollout, self._crew
        while True:
            await crew.raise_errors()
            self._take_up()
            if rollout.budget.halts and not rollout.position.in_flight:
                await keep_to_budget(rollout, self._index)
            elif not crew.idle:
                await crew.next_end()
            elif rollout.may_grow:
                await workflow.wait_condition(lambda: not (rollout.may_grow and crew.idle))
            else:
                return

    def _end_helpers(self) -> None:
        for helper in self._helpers:
            helper.cancel()
        self._updates.late.give_up()

    async def _keep_taking_up(self) -> None:
        setbacks = self._rollout.setbacks
        while True:
            await workflow.wait_condition(lambda: bool(setbacks.to_retry or self._has_joiners))
            self._take_up()

    @property
    def _has_joiners(self) -> bool:
        return len(self._rollout.ledger.stage(self._index).clusters) > self._known

    def _take_up(self) -> None:
        """Update clusters that people have handed out again, and those that joined the stage."""
        for position in map(self._updates.position, self._rollout.setbacks.take_retries()):
            self._crew.add(self._updates.update(position, again=True))
        known, self._known = self._known, len(self._rollout.ledger.stage(self._index).clusters)
        for position in range(known, self._known):
            self._crew.add(self._updates.update(position))

    async def _follow(self) -> None:
        """Keep a follower of the bindings running while clusters are in flight, not while stopped.

        Replace it when the targets change.
        """
        rollout = self._rollout
        while True:
            await workflow.wait_condition(
                lambda: bool(rollout.position.in_flight or not self._updates.late.idle)
            )
            summary = f"{self._stage.name}: bindings of {rollout.placement}"
            handle = rollout.follow(self._updates.following(), summary=summary)
            try:
                await self._until_others_are_followed(rollout.targets)
            finally:
                handle.cancel()

    async def _until_others_are_followed(self, targets: Targets) -> None:
        rollout = self._rollout
        await workflow.wait_condition(
            lambda: (
                (
                    rollout.intent.stop_observed
                    and not rollout.position.in_flight
                    and self._updates.late.idle
                )
                or rollout.targets is not targets
            )
        )
