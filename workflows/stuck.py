"""Detecting clusters that take too long, with one timer for a whole stage.

contract: update-runs 8.4 (after the loop), 8.6b and 10.1
"""

from datetime import datetime, timedelta
from typing import Final

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from planning.runs import marks
    from workflows.rollout import Rollout


STEPS: Final = 10
"""While some clusters are stuck, further ones are reported at most once per this fraction (a tenth)
of the limit."""


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
            remaining = self._next_deadline()
            assert remaining is not None, "waited for above, and nothing ran in between"
            stage = self._rollout.ledger.stage(self._index).stage_name
            # Not ended early when clusters finish: a new timer for each would fill the history.
            # A cluster that an earlier workflow started may be overdue already.
            await workflow.sleep(max(remaining, timedelta(0)), summary=f"{stage}: stuck check")
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
        order = [each.cluster_name for each in self._rollout.ledger.stage(self._index).clusters]
        limit = workflow.now() - self._rollout.stuck_after
        in_flight = self._rollout.position.in_flight
        return [name for name in order if name in in_flight and in_flight[name] <= limit]

    def _next_deadline(self) -> timedelta | None:
        """Return the time until the next cluster counts as stuck; None if no other can."""
        stuck_after, now = self._rollout.stuck_after, workflow.now()
        known = frozenset(self._rollout.position.stuck)
        begun = [at for name, at in self._rollout.position.in_flight.items() if name not in known]
        if not begun:
            return None
        due = min(begun) + stuck_after
        if known and self._told_at:
            # Hundreds may become stuck one after the other, and each check may be a write.
            due = max(due, self._told_at + stuck_after / STEPS)
        return due - now
