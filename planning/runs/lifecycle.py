"""Which states a person may ask a run for, and what to tell who asks for another.

contract: update-runs 2.1 (state transitions)
"""

from api.reasons import ConditionType, RunReason
from api.runs import RunState, UpdateRun
from planning import conditions
from planning.placements import usage


def is_active(run: UpdateRun) -> bool:
    """Whether a run changes clusters now, or will without anybody asking it to again."""
    if run.metadata.deletion_timestamp:
        return False
    if not usage.is_under_way(run) or run.spec.state is RunState.INITIALIZE:
        return False
    progressing = conditions.find(run.status.conditions, ConditionType.PROGRESSING)
    halted = progressing is None or progressing.reason == RunReason.STOPPED
    return run.spec.state is RunState.RUN or not halted


def refusal(current: RunState, wanted: RunState, *, run: str, ended: bool) -> str | None:
    """Why a run cannot be paused or resumed now, and what to do instead; None if it can."""
    if ended:
        return over(run)
    if (current, wanted) == (RunState.INITIALIZE, RunState.STOP):
        return f"run {run} was never started, so there is nothing to stop; start it, or delete it"
    return None


def over(run: str) -> str:
    """Why nothing can be asked of a run any more, and what to do instead."""
    return f"run {run} is over, nothing can be changed; create a new run"


def answer(wanted: RunState, *, run: str, in_flight: int) -> str:
    """What a person is told whose wish was taken."""
    if wanted is RunState.RUN:
        return f"run {run} goes on"
    if in_flight:
        clusters = "1 cluster" if in_flight == 1 else f"{in_flight} clusters"
        return f"run {run} stops: {clusters} in flight will be waited for, no other is started"
    return f"run {run} is stopped"
