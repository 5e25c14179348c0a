"""Reading and setting conditions like metav1: the transition time changes only with the status.

contract: update-runs 2.2
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from api.base import Condition

MAX_MESSAGE: Final = 32768
"""Characters that the API accepts; a status with a longer message is rejected as a whole."""


def find(conditions: Iterable[Condition], kind: str) -> Condition | None:
    """Return the condition of a type, or None."""
    # A plain loop for speed: every change of a run searches the conditions of all its clusters.
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
    """Return whether the condition has the status and, if given, the observed generation."""
    found = find(conditions, kind)
    return (
        found is not None
        and found.status == status
        and (generation is None or found.observed_generation == generation)
    )


def put(conditions: list[Condition], condition: Condition) -> bool:
    """Set a condition in place; return whether anything changed.

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


def renewed(before: Iterable[Condition], fresh: Sequence[Condition]) -> list[Condition]:
    """Return the fresh conditions, each with the time at which its status last changed.

    Conditions of other types are dropped: they no longer hold.
    """
    types = {each.type for each in fresh}
    result = [each for each in before if each.type in types]
    for condition in fresh:
        put(result, condition)
    return result


def make(
    kind: str, status: str, reason: str, message: str, *, generation: int, now: datetime
) -> Condition:
    """Return a condition as of `now`, in whole seconds as the API stores them, message bounded."""
    return Condition(
        type=kind,
        status=status,
        reason=reason,
        message=bounded(message),
        observed_generation=generation,
        last_transition_time=now.replace(microsecond=0),
    )


def bounded(message: str) -> str:
    """Return the message, truncated to what the API accepts: parts of it come from others."""
    return message if len(message) <= MAX_MESSAGE else message[: MAX_MESSAGE - 1] + "…"
