"""Which states a person may request for a run, and the answers to requests.

contract: update-runs 2.1 (state transitions)
"""

from api.reasons import ConditionType, RunReason
from api.runs import RunState, UpdateRun
from planning import conditions
from planning.runs import phases


def is_active(run: UpdateRun) -> bool:
    """Return whether a run changes clusters now, or will without a further request."""
    if run.metadata.deletion_timestamp:
        return False
    if phases.has_ended(run.status) or run.spec.state is RunState.INITIALIZE:
        return False
    progressing = conditions.find(run.status.conditions, ConditionType.PROGRESSING)
    halted = progressing is None or progressing.reason == RunReason.STOPPED
    return run.spec.state is RunState.RUN or not halted


def refusal(current: RunState, wanted: RunState, *, run: str, ended: bool) -> str | None:
    """Return why a run cannot be paused or resumed, and what to do instead; None if it can."""
    if ended:
        return over(run)
    if (current, wanted) == (RunState.INITIALIZE, RunState.STOP):
        return f"run {run} was never started, so there is nothing to stop; start it, or delete it"
    return None


def over(run: str) -> str:
    """Return why an ended run accepts no request, and what to do instead."""
    return f"run {run} has ended and cannot be changed; create a new run"


def answer(wanted: RunState, *, run: str, in_flight: int) -> str:
    """Return the answer to a request that was accepted."""
    if wanted is RunState.RUN:
        return f"run {run} is running"
    if in_flight:
        clusters = "1 cluster" if in_flight == 1 else f"{in_flight} clusters"
        return f"run {run} is stopping: it waits for {clusters} in flight and starts no other"
    return f"run {run} is stopped"
