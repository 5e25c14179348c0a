"""How many clusters of a stage may be updated at once.

contract: update-runs 8.3
"""

import re
from typing import Final

from planning import failures

MOST: Final = 1500
"""Clusters at once, whatever the strategy says: Temporal allows a workflow 2,000 pending
activities, and rejects a workflow task as a whole that would exceed them."""
_PERCENTAGE: Final = re.compile(r"([0-9]{1,3})%")


def limit(max_concurrency: int | str | None, *, clusters: int) -> int:
    """Convert `maxConcurrency` to a number of clusters, at least one and at most `MOST`.

    Raises:
        RunAborted: neither a number nor a percentage; the API server rejects such a value.
    """
    if max_concurrency is None:
        return 1
    if isinstance(max_concurrency, int):
        return min(max(1, max_concurrency), MOST)
    percentage = _PERCENTAGE.fullmatch(max_concurrency)
    if percentage is None:
        raise failures.CONCURRENCY_NOT_VALID.error(value=max_concurrency)
    return min(max(1, int(percentage[1]) * clusters // 100), MOST)
