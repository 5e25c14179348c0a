"""Lists of conditions that one writer updates as a whole."""

from collections.abc import Iterable, Sequence

from api.base import Condition
from planning import conditions


def renewed(before: Iterable[Condition], fresh: Sequence[Condition]) -> list[Condition]:
    """Return the fresh conditions, each with the time at which its status last changed.

    Conditions of other types are dropped: they no longer hold.
    """
    types = {each.type for each in fresh}
    result = [each for each in before if each.type in types]
    for condition in fresh:
        conditions.put(result, condition)
    return result
