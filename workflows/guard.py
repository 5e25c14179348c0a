"""Looking again when something that the run depends on has changed.

contract: update-runs 9, decision 8
"""

from datetime import timedelta
from typing import Final

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.requests import Survey, Surveyed
    from planning import stages, validation
    from planning.errors import RunError
    from workflows import calls
    from workflows.rollout import Rollout

SECOND_LOOK: Final = timedelta(seconds=1)
"""Other controllers change things in steps: what is wrong only between two does not count."""


class Guard:
    """Ends the run when what it depends on has changed for good."""

    def __init__(self, rollout: Rollout) -> None:
        self._rollout = rollout
        self._wanted = False

    def look_again(self) -> None:
        """Note that something has changed; looked at as soon as the run is not stopped."""
        self._wanted = True

    async def run(self) -> None:
        """Look whenever asked; return when there is no run any more.

        Raises:
            RunError: the run cannot go on.
        """
        rollout = self._rollout
        while True:
            await workflow.wait_condition(
                lambda: rollout.gone or (self._wanted and rollout.planned and rollout.may_go_on)
            )
            if rollout.gone:
                return
            self._wanted = False
            if await self._violation():
                await workflow.sleep(SECOND_LOOK, summary="second look at a change")
                if error := await self._violation():
                    raise error

    async def _violation(self) -> RunError | None:
        rollout, status = self._rollout, self._rollout.ledger.status
        keys = stages.deciding_labels(status.staged_update_strategy_snapshot)
        request = Survey(run=rollout.run, label_keys=keys)
        surveyed = await calls.effect("survey", request, Surveyed, summary="check")
        if surveyed.facts is None:
            rollout.gone = True
            return None
        try:
            validation.check(surveyed.facts, run=rollout.run, status=status)
        except RunError as error:
            return error
        return None
