"""Checking the run again when something that it depends on has changed.

contract: update-runs 9, decision 8
"""

from datetime import timedelta
from typing import Final

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import Survey
    from planning.errors import RunError, TransientState
    from planning.runs import restored, stages, validation
    from workflows import calls
    from workflows.rollout import Rollout

SECOND_LOOK: Final = timedelta(seconds=1)
"""Pause before the second check. Other controllers change things in steps, and a fault that exists
only between two steps does not count."""
PATIENCE: Final = timedelta(seconds=5)
"""Pause before the next check of a change that others have not finished; the bridge usually
requests one earlier. Each check adds a few events to history, so the pauses grow."""
MOST_PATIENCE: Final = timedelta(minutes=5)
"""The longest pause."""


class Guard:
    """Ends the run when something that it depends on has changed permanently."""

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        self._patience = PATIENCE

    async def run(self) -> None:
        """Check whenever a recheck is requested, unless stopped; return when the run is gone.

        Raises:
            RunError: the run cannot continue.
        """
        rollout = self._rollout
        while True:
            await workflow.wait_condition(lambda: rollout.gone or self._is_due)
            if rollout.gone:
                return
            doubts = rollout.rechecks.requested
            fault = await self._look_twice()
            if fault is None:
                rollout.rechecks.have_passed(doubts)
                self._patience = PATIENCE
            elif isinstance(fault, TransientState):
                await self._let_settle(doubts)
            elif rollout.is_checked:
                raise fault
            # Stopped between the two checks: the run is checked again when it is resumed.

    @property
    def _is_due(self) -> bool:
        rollout = self._rollout
        return rollout.planned and rollout.is_checked and not rollout.rechecks.all_passed

    async def _look_twice(self) -> RunError | None:
        fault = await self._look()
        if fault is None or isinstance(fault, TransientState):
            return fault
        await workflow.sleep(SECOND_LOOK, summary="second check of a change")
        return await self._look()

    async def _look(self) -> RunError | None:
        rollout, status = self._rollout, self._rollout.ledger.status
        keys = stages.deciding_labels(status.staged_update_strategy_snapshot)
        request = Survey(
            run=rollout.run,
            label_keys=keys,
            settled=False,
            content=rollout.snapshot,
            known=rollout.rechecks.digest,
        )
        surveyed = await calls.effect(stubs.SURVEY, request, summary="check")
        if surveyed.unchanged:
            return None
        if surveyed.facts is None:
            rollout.lose_run()
            return None
        in_flight = rollout.position.in_flight
        lost = restored.lost(surveyed.facts, begun=in_flight)
        rollout.rechecks.note(digest=rollout.rechecks.digest, lost=lost)
        try:
            restored.check(surveyed.facts, status=status)
            rollout.learn(validation.check(surveyed.facts, run=rollout.run, status=status))
        except RunError as error:
            return error
        # After a fault everything is checked again. With clusters in flight the facts keep
        # changing, so their digest is of no use.
        digest = "" if rollout.position.in_flight else surveyed.facts.digest
        rollout.rechecks.note(digest=digest, lost=lost)
        return None

    async def _let_settle(self, doubts: int) -> None:
        """Give others time to finish their change; until then nothing new starts."""
        rollout, patience = self._rollout, self._patience
        self._patience = min(2 * patience, MOST_PATIENCE)
        try:
            await workflow.wait_condition(
                lambda: rollout.rechecks.requested != doubts,
                timeout=patience,
                timeout_summary="wait for others to finish a change",
            )
        except TimeoutError:
            return
