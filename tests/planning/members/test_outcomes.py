from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from planning.members.outcomes import recheck_pause, repair_pause


def seconds(*, settled: bool, attempts: int) -> list[float]:
    return [
        round(recheck_pause(n, settled=settled).total_seconds(), 2) for n in range(1, attempts + 1)
    ]


def test_an_unsettled_work_is_processed_again_after_two_to_thirty_seconds() -> None:
    assert seconds(settled=False, attempts=3) == [2, 2.4, 2.88]
    assert recheck_pause(100, settled=False) == timedelta(seconds=30)


def test_a_settled_work_is_processed_again_after_up_to_fifteen_minutes() -> None:
    assert seconds(settled=True, attempts=3) == [30, 45, 67.5]
    assert recheck_pause(100, settled=True) == timedelta(minutes=15)


def test_the_first_repair_is_immediate_and_later_ones_wait_longer_and_longer() -> None:
    assert [repair_pause(n).total_seconds() for n in range(4)] == [0, 1, 2, 4]
    assert repair_pause(1000) == timedelta(minutes=5)


@given(st.integers(1, 10**6), st.booleans())
def test_a_pause_never_shrinks(attempt: int, settled: bool) -> None:
    assert recheck_pause(attempt, settled=settled) <= recheck_pause(attempt + 1, settled=settled)
