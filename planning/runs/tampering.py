"""Noticing that somebody else has taken something out of a run's status.

The engine only ever adds to a status, or changes what is there: a condition, once set, gets
another value, and stages and clusters stay where they are. So whatever is less than before was
taken out by somebody else.
"""

from typing import Any


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
