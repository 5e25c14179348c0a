"""Noticing clusters that take too long, with one timer for all of a stage (design D8).

contract: update-runs 8.4 (after the loop), 8.6b and 10.1
"""

from datetime import datetime, timedelta
from typing import Final

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from planning.runs import marks
    from workflows.rollout import Rollout


STEPS: Final = 10
"""Where some clusters are stuck, that others are too is told in a tenth of the time it takes."""


class StuckWatch:
    """Says in the run's status which clusters are stuck, and takes it back when they are not."""

    def __init__(self, rollout: Rollout, index: int) -> None:
        self._rollout = rollout
        self._index = index
        self._told_at: datetime | None = None
        rollout.stuck = []

    async def run(self) -> None:
        """Look whenever a cluster in flight becomes overdue, until cancelled."""
        while True:
            await workflow.wait_condition(lambda: self._next_deadline() is not None)
            remaining = self._next_deadline()
            assert remaining is not None, "waited for above, and nothing ran in between"
            stage = self._rollout.ledger.stage(self._index).stage_name
            # Not ended early when clusters finish: a new timer for each would fill the history.
            # One that an earlier workflow began with may be overdue already.
            await workflow.sleep(max(remaining, timedelta(0)), summary=f"{stage}: stuck check")
            self.look()

    def one_ended(self) -> None:
        """A cluster has ended; only if some were stuck can that make a difference."""
        if self._rollout.stuck:
            self.look()

    def look(self) -> None:
        """Compare the clusters in flight with the time now."""
        rollout, overdue = self._rollout, self._overdue()
        if overdue == rollout.stuck:
            return
        now = workflow.now()
        if len(overdue) > len(rollout.stuck):
            self._told_at = now
        rollout.stuck = overdue
        if overdue:
            marks.run_stuck(rollout.ledger, self._index, overdue, now)
        elif rollout.may_go_on:
            marks.run_progressing(rollout.ledger, now)
        elif rollout.halted:
            marks.stopping(rollout.ledger, self._index, now)

    def _overdue(self) -> list[str]:
        order = [each.cluster_name for each in self._rollout.ledger.stage(self._index).clusters]
        limit = workflow.now() - self._rollout.stuck_after
        in_flight = self._rollout.in_flight
        return [name for name in order if name in in_flight and in_flight[name] <= limit]

    def _next_deadline(self) -> timedelta | None:
        """Time until a cluster that is not stuck yet is to be called so; None without one."""
        stuck_after, now = self._rollout.stuck_after, workflow.now()
        known = frozenset(self._rollout.stuck)
        begun = [at for name, at in self._rollout.in_flight.items() if name not in known]
        if not begun:
            return None
        due = min(begun) + stuck_after
        if known and self._told_at:
            # Hundreds may become stuck one after the other, and each look may be a write.
            due = max(due, self._told_at + stuck_after / STEPS)
        return due - now
