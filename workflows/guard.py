"""Looking again when something that the run depends on has changed.

contract: update-runs 9, decision 8
"""

from datetime import timedelta
from typing import Final

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.requests import Survey, Surveyed
    from planning.errors import RunError, TransientState
    from planning.runs import restored, stages, validation
    from workflows import calls
    from workflows.rollout import Rollout

SECOND_LOOK: Final = timedelta(seconds=1)
"""Other controllers change things in steps: what is wrong only between two does not count."""
PATIENCE: Final = timedelta(seconds=5)
"""Until the next look at a change that others have not finished; the bridge tells earlier of
most. Each look is a few events of history, so the pauses grow."""
MOST_PATIENCE: Final = timedelta(minutes=5)


class Guard:
    """Ends the run when what it depends on has changed for good."""

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        self._patience = PATIENCE

    async def run(self) -> None:
        """Look whenever there is doubt, unless the run is stopped; return when it exists no more.

        Raises:
            RunError: the run cannot go on.
        """
        rollout = self._rollout
        while True:
            await workflow.wait_condition(lambda: rollout.gone or self._is_due)
            if rollout.gone:
                return
            doubts = rollout.doubts
            fault = await self._look_twice()
            if fault is None:
                rollout.dispelled = doubts
                self._patience = PATIENCE
            elif isinstance(fault, TransientState):
                await self._let_settle(doubts)
            elif rollout.is_checked:
                raise fault
            # Stopped between the two looks: looked at anew when it is resumed.

    @property
    def _is_due(self) -> bool:
        rollout = self._rollout
        return rollout.planned and rollout.is_checked and not rollout.certain

    async def _look_twice(self) -> RunError | None:
        fault = await self._look()
        if fault is None or isinstance(fault, TransientState):
            return fault
        await workflow.sleep(SECOND_LOOK, summary="second look at a change")
        return await self._look()

    async def _look(self) -> RunError | None:
        rollout, status = self._rollout, self._rollout.ledger.status
        keys = stages.deciding_labels(status.staged_update_strategy_snapshot)
        request = Survey(
            run=rollout.run,
            label_keys=keys,
            settled=False,
            content=rollout.snapshot,
            known=rollout.looked,
        )
        surveyed = await calls.effect("survey", request, Surveyed, summary="check")
        if surveyed.unchanged:
            return None
        if surveyed.facts is None:
            rollout.gone = True
            return None
        rollout.lost = restored.lost(surveyed.facts, begun=rollout.in_flight)
        try:
            restored.check(surveyed.facts, status=status)
            rollout.learn(validation.check(surveyed.facts, run=rollout.run, status=status))
        except RunError as error:
            return error
        # What was wrong is looked at whole, and what clusters in flight say changes all the time.
        rollout.looked = "" if rollout.in_flight else surveyed.facts.digest
        return None

    async def _let_settle(self, doubts: int) -> None:
        """Give others time for the rest of their change; until then nothing new begins."""
        rollout, patience = self._rollout, self._patience
        self._patience = min(2 * patience, MOST_PATIENCE)
        try:
            await workflow.wait_condition(
                lambda: rollout.doubts != doubts,
                timeout=patience,
                timeout_summary="others are half way through a change",
            )
        except TimeoutError:
            return
