"""Detecting clusters that take too long, with one timer for a whole stage.

contract: update-runs 8.4 (after the loop), 8.6b and 10.1
"""

from datetime import datetime, timedelta

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from planning.runs import cluster_ends, marks
    from workflows.rollout import Rollout


class StuckWatch:
    """Reports stuck clusters in the run's status, and clears the report when they recover."""

    def __init__(self, rollout: Rollout, index: int) -> None:
        self._rollout = rollout
        self._index = index
        self._told_at: datetime | None = None
        rollout.position.note_stuck([])

    async def run(self) -> None:
        """Check whenever a cluster in flight becomes overdue, until cancelled."""
        while True:
            await workflow.wait_condition(lambda: self._next_deadline() is not None)
            deadline = self._next_deadline()
            assert deadline is not None, "waited for above, and nothing ran in between"
            stage = self._rollout.ledger.stage(self._index).stage_name
            # Not ended early when clusters finish: a new timer for each would fill the history.
            # A cluster that an earlier workflow started may be overdue already.
            remaining = max(deadline - workflow.now(), timedelta(0))
            await workflow.sleep(remaining, summary=f"{stage}: stuck check")
            self.look()

    def one_ended(self) -> None:
        """Check after a cluster has ended, which makes a difference only if some were stuck."""
        if self._rollout.position.stuck:
            self.look()

    def look(self) -> None:
        """Find the overdue clusters now and update the status if they changed."""
        rollout, overdue = self._rollout, self._overdue()
        if overdue == rollout.position.stuck:
            return
        now = workflow.now()
        if len(overdue) > len(rollout.position.stuck):
            self._told_at = now
        rollout.position.note_stuck(overdue)
        if overdue:
            marks.run_stuck(rollout.ledger, self._index, overdue, now)
        elif rollout.intent.may_run:
            marks.run_progressing(rollout.ledger, now)
        elif rollout.intent.stop_observed:
            marks.stopping(rollout.ledger, self._index, now)

    def _overdue(self) -> list[str]:
        rollout = self._rollout
        return cluster_ends.overdue(
            rollout.position.in_flight,
            order=[each.cluster_name for each in rollout.ledger.stage(self._index).clusters],
            limit=rollout.stuck_after,
            now=workflow.now(),
        )

    def _next_deadline(self) -> datetime | None:
        position = self._rollout.position
        return cluster_ends.next_overdue(
            position.in_flight,
            known=frozenset(position.stuck),
            reported=self._told_at,
            limit=self._rollout.stuck_after,
        )
