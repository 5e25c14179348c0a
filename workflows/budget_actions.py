"""What a run does when more clusters have failed than its rollout policy allows.

A further action is one value of `BudgetAction`, carried out here.

policies: 3
"""

from collections.abc import Awaitable, Callable
from typing import Final

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import RollBack
    from api.rollout_policies import BudgetAction
    from planning import failures
    from planning.policies import texts
    from planning.policies.budgets import Exceeded
    from planning.policies.reporting import Undone
    from planning.runs import marks, phases, run_events
    from planning.runs.phases import Phase
    from workflows import calls
    from workflows.rollout import Rollout


async def keep_to_budget(rollout: Rollout, stage: int) -> None:
    """Do what the policy says now that no cluster is in flight; return when the run may continue.

    That is also when a person has a cluster tried again, which needs no budget. `stage` is the
    index of the current stage.

    Raises:
        RunAborted: the policy ends the run.
    """
    budget, why = rollout.budget, ""
    # An earlier workflow may have paused the run already, and said why.
    is_said = phases.phase(rollout.ledger.status) is Phase.PAUSED
    if budget.exceeded and not budget.paused:
        why = await _ACTIONS[budget.exceeded.action](rollout, stage, budget.exceeded)
        budget.pause()
    while budget.halts and not rollout.position.in_flight:
        if budget.exceeded and rollout.intent.may_run and not is_said:
            text = texts.paused(budget.exceeded, rollout.ledger.status, stage=stage, why=why)
            marks.run_paused(rollout.ledger, text, workflow.now())
        is_said = False
        await _until_news(rollout, seen=rollout.setbacks.changes)


async def _until_news(rollout: Rollout, *, seen: int) -> None:
    """Wait until the run may continue, or clusters have changed since so many changes."""
    await workflow.wait_condition(
        lambda: (
            not rollout.budget.halts
            or bool(rollout.position.in_flight)
            or rollout.setbacks.changes != seen
        )
    )


async def _pause(_rollout: Rollout, _stage: int, _exceeded: Exceeded) -> str:
    return ""


async def _abort(rollout: Rollout, stage: int, exceeded: Exceeded) -> str:
    named = texts.of_exceeded(exceeded, rollout.ledger.stage(stage))
    raise failures.TOO_MANY_FAILED.error(**named)


async def _roll_back(rollout: Rollout, stage: int, exceeded: Exceeded) -> str:
    """End the run once another one is there that takes its clusters back."""
    # Stop always works; whoever resumes the run has not accepted the failures.
    await workflow.wait_condition(lambda: rollout.intent.may_run)
    current = rollout.ledger.stage(stage)
    text = texts.rolling_back(exceeded, current)
    marks.run_rolling_back(rollout.ledger, text, workflow.now())
    request = RollBack(
        run=rollout.run,
        placement=rollout.placement,
        stage=current.stage_name,
        rules=rollout.rules,
    )
    made = await calls.effect(
        stubs.ROLL_BACK, request, summary="roll back", lost_after=calls.LOST_AFTER
    )
    if not made.run:
        return made.why_not
    now, back = workflow.now(), texts.went_back(made.clusters)
    rollout.undo(Undone(run=made.run, at=now, stay=made.stay))
    rollout.notices.note(
        run_events.rolled_back(rollback=made.run, back=back, index=made.index, now=now)
    )
    named = texts.of_exceeded(exceeded, current)
    raise failures.ROLLED_BACK.error(**named, rollback=made.run, back=back, index=made.index)


_ACTIONS: Final[dict[BudgetAction, Callable[[Rollout, int, Exceeded], Awaitable[str]]]] = {
    BudgetAction.PAUSE: _pause,
    BudgetAction.ABORT: _abort,
    BudgetAction.ROLL_BACK: _roll_back,
}
"""How each action is carried out; unless that ends the run, the answer says why, and it pauses."""
