"""How long tests wait for something to happen, or to see that nothing happens."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

QUIET = 0.3
"""Seconds within which a faulty engine would have done what it should not do."""
LOOKED_TWICE = 1.5
"""Seconds after which an engine that mistakes a temporary state for a violation fails the run."""
BETWEEN_TWO_STEPS = 0.2
"""Seconds for which others may leave a change incomplete; less than until the second check."""
SECOND_LOOK = 1.0
"""Seconds after which an engine treats what is still wrong as a violation (contract decision 8)."""


@contextmanager
def between_two_looks() -> Iterator[None]:
    """Make several changes that the engine has to see as one.

    If the machine stalls in between, the engine may rightly see several: the test is then skipped.
    """
    begun = time.monotonic()
    yield
    took = time.monotonic() - begun
    if took > SECOND_LOOK / 2:
        pytest.skip(f"the steps took {took:.1f} s, and the engine may have checked in between")
