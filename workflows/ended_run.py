"""Ending a run on the hub whose workflow has ended, while the hub still shows it in progress.

This happens when a hub was restored from a backup that is older than the state in Temporal. It is a
separate workflow type under the run's workflow id, because only a workflow writes a run's status,
and because an older worker, which does not know the type, must not start the run again.

contract: update-runs 11
"""

import asyncio
from typing import Final

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import Survey
    from api.reasons import ConditionType
    from api.runs import UpdateRunStatus
    from planning import conditions
    from planning.identity import RunRef
    from planning.runs import marks, phases, restored, run_events
    from planning.runs.restored import Ended
    from workflows import calls
    from workflows.chronicle import Chronicle
    from workflows.messages import Message, RunOutcome, UpdateRunInput
    from workflows.mirror import StatusMirror
    from workflows.rollout import Rollout

END_WORKFLOW: Final = "EndUpdateRun"
"""Workflow type, as the Temporal UI shows it."""


class EndRunInput(Message):
    """Input of the workflow."""

    run: RunRef
    ended: Ended


@workflow.defn(name=END_WORKFLOW)
class EndUpdateRun:
    """Ends a run on the hub that has already ended in Temporal."""

    @workflow.init
    def __init__(self, start: EndRunInput) -> None:
        self._rollout = Rollout(UpdateRunInput(run=start.run))
        self._mirror = StatusMirror(self._rollout)
        self._chronicle = Chronicle(self._rollout)

    @workflow.run
    async def run(self, start: EndRunInput) -> RunOutcome:
        """Write how the run ended, unless the hub already shows its end."""
        keepers = [
            asyncio.create_task(each) for each in (self._mirror.run(), self._chronicle.run())
        ]
        text = restored.ended_text(start.ended)
        survey = Survey(run=start.run, settled=False, recall=True)
        surveyed = await calls.effect(stubs.SURVEY, survey, summary="is the run over")
        if surveyed.facts:
            self._rollout.ledger.begin_at(surveyed.facts.generation)
            self._end(surveyed.recorded or UpdateRunStatus(), text)
        await workflow.wait_condition(lambda: self._mirror.is_clean and self._chronicle.is_clean)
        for keeper in keepers:
            keeper.cancel()
        return RunOutcome(reason=start.ended.how, message=text)

    def _end(self, recorded: UpdateRunStatus, text: str) -> None:
        rollout, now = self._rollout, workflow.now()
        if phases.has_ended(recorded):
            return
        rollout.notices.reported_by_others(
            run_events.situation(recorded, desired=rollout.intent.state)
        )
        rollout.ledger.recall(recorded)
        if conditions.has(recorded.conditions, ConditionType.INITIALIZED):
            marks.run_failed(rollout.ledger, text, now)
        else:
            marks.run_not_initialized(rollout.ledger, text, now)
