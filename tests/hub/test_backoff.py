"""Pauses grow up to a limit, and differ between clients."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub import backoff

FIRST = timedelta(milliseconds=5)
MOST = timedelta(seconds=30)


@pytest.mark.parametrize(
    ("failures", "milliseconds"), [(1, 5), (2, 10), (3, 20), (13, 20480), (14, 30000)]
)
def test_a_pause_doubles_with_each_failure_up_to_the_longest(
    failures: int, milliseconds: int
) -> None:
    pause = backoff.delay(failures, first=FIRST, most=MOST)

    assert pause == timedelta(milliseconds=milliseconds)


@given(st.integers(1, 10**6))
def test_no_number_of_failures_is_too_large(failures: int) -> None:
    assert FIRST <= backoff.delay(failures, first=FIRST, most=MOST) <= MOST


def test_jitter_removes_at_most_half() -> None:
    assert all(MOST / 2 <= backoff.jittered(MOST) <= MOST for _ in range(100))
