"""Noticing that somebody else has changed a run's status.

The engine only ever adds to a status, or changes what is there: a condition, once set, gets
another value, and stages and clusters stay where they are. So whatever is less than before was
taken out by somebody else. And it ends a run in one way only, in one write.
"""

from typing import Any

from api.reasons import ConditionType
from api.runs import UpdateRunStatus
from planning import conditions


def has_lost(before: Any, after: Any) -> bool:  # noqa: ANN401  (JSON)
    """Whether a JSON value lacks something, anywhere in it, that it had before."""
    # First, because it is quick: of a thousand clusters, few change at a time.
    if before == after:
        return False
    if isinstance(before, dict):
        return not isinstance(after, dict) or any(
            key not in after or has_lost(value, after[key]) for key, value in before.items()
        )
    if isinstance(before, list):
        return (
            not isinstance(after, list)
            or len(after) < len(before)
            or any(map(has_lost, before, after))
        )
    return False


def is_forged(status: UpdateRunStatus) -> bool:
    """Whether a status says that its run is over, but not as the engine says so.

    A run that ends has one reason in two conditions; one that cannot begin makes no progress.

    contract: update-runs 11
    """
    progressing = conditions.find(status.conditions, ConditionType.PROGRESSING)
    if succeeded := conditions.find(status.conditions, ConditionType.SUCCEEDED):
        return progressing is None or progressing.reason != succeeded.reason
    refused = conditions.has(status.conditions, ConditionType.INITIALIZED, "False")
    return refused and progressing is not None
