"""Detecting that a run's status was changed by another writer.

The engine only adds to a status or changes existing values: a condition, once set, may get another
value; stages and clusters keep their places, and clusters are added at the end of a stage only. So
whatever is missing was removed by another writer. And the engine ends a run in only one way, with
one write.
"""

from typing import Any

from api.reasons import ConditionType
from api.runs import UpdateRunStatus
from planning import conditions


def has_lost(before: Any, after: Any) -> bool:  # noqa: ANN401  (JSON)
    """Return whether a JSON value lacks anything, at any depth, that it had before."""
    # First, because it is quick: few of a thousand clusters change at a time.
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
    """Return whether a status says that its run has ended, but was not written by the engine.

    A run that ends has the same reason in two conditions; one that could not be planned has no
    condition Progressing.

    contract: update-runs 11
    """
    progressing = conditions.find(status.conditions, ConditionType.PROGRESSING)
    if succeeded := conditions.find(status.conditions, ConditionType.SUCCEEDED):
        return progressing is None or progressing.reason != succeeded.reason
    refused = conditions.has(status.conditions, ConditionType.INITIALIZED, "False")
    return refused and progressing is not None
