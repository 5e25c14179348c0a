"""Reading and setting conditions in the way of metav1: the time moves only with the status.

contract: update-runs 2.2
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from api.base import Condition

MAX_MESSAGE: Final = 32768
"""Characters that the API takes; a status with a longer message is refused as a whole."""


def find(conditions: Iterable[Condition], kind: str) -> Condition | None:
    """The condition of that type, or None."""
    # A plain loop, because every cluster of a run is asked for with every change.
    for each in conditions:
        if each.type == kind:
            return each
    return None


def has(
    conditions: Iterable[Condition],
    kind: str,
    status: str = "True",
    *,
    generation: int | None = None,
) -> bool:
    """Whether the condition has the status and, if a generation is given, speaks of it."""
    found = find(conditions, kind)
    return (
        found is not None
        and found.status == status
        and (generation is None or found.observed_generation == generation)
    )


def put(conditions: list[Condition], condition: Condition) -> bool:
    """Set a condition in place; says whether anything changed.

    The last transition time of an existing condition is kept unless its status changes.
    """
    for position, old in enumerate(conditions):
        if old.type == condition.type:
            kept = condition.model_copy(
                update={"last_transition_time": old.last_transition_time}
                if old.status == condition.status
                else {}
            )
            conditions[position] = kept
            return kept != old
    conditions.append(condition)
    return True


def make(
    kind: str, status: str, reason: str, message: str, *, generation: int, now: datetime
) -> Condition:
    """A condition as of `now`, in whole seconds as the API keeps them; its message is bounded."""
    return Condition(
        type=kind,
        status=status,
        reason=reason,
        message=bounded(message),
        observed_generation=generation,
        last_transition_time=now.replace(microsecond=0),
    )


def bounded(message: str) -> str:
    """The message, cut where the API would refuse it: others have written parts of it."""
    return message if len(message) <= MAX_MESSAGE else message[: MAX_MESSAGE - 1] + "…"
