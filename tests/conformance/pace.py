"""How long tests wait: for what has to happen, and to see that nothing does."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

QUIET = 0.3
"""Seconds in which an engine that does what it should not would have done it."""
LOOKED_TWICE = 1.5
"""Seconds after which an engine that took a passing state for a violation has ended the run."""
BETWEEN_TWO_STEPS = 0.2
"""Seconds for which others may leave things half changed; less than until the second look."""
SECOND_LOOK = 1.0
"""Seconds after which an engine takes what is still wrong for a violation (decision 8)."""


@contextmanager
def between_two_looks() -> Iterator[None]:
    """Do in several steps what the engine has to see as one change.

    On a machine that stalls between two steps it rightly sees several: then the test says nothing.
    """
    begun = time.monotonic()
    yield
    took = time.monotonic() - begun
    if took > SECOND_LOOK / 2:
        pytest.skip(f"the steps took {took:.1f} s, and the engine may have looked between them")
