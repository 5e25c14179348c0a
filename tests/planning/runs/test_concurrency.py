"""Converting maxConcurrency to a number of clusters (contract: update-runs 8.3)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planning.errors import RunAborted
from planning.runs import concurrency


@pytest.mark.parametrize(
    ("declared", "clusters", "at_once"),
    [
        (None, 5, 1),
        (1, 5, 1),
        (3, 5, 3),
        (10, 5, 10),
        (250, 1000, 250),
        ("50%", 4, 2),
        ("50%", 5, 2),
        ("50%", 1, 1),
        ("1%", 99, 1),
        ("33%", 10, 3),
        ("99%", 100, 99),
        ("100%", 7, 7),
        ("100%", 0, 1),
        (1500, 5, 1500),
        (1501, 5, 1500),
        (2**31 - 1, 5, 1500),
        ("100%", 3000, 1500),
    ],
)
def test_a_number_is_used_unchanged_and_a_percentage_rounded_down_to_at_least_one(
    declared: int | str | None, clusters: int, at_once: int
) -> None:
    assert concurrency.limit(declared, clusters=clusters) == at_once


@pytest.mark.parametrize(
    "declared", ["", "%", "50", "half", "-1%", "1.5%", "+5%", "\u0665%", "5%%", "9" * 5000 + "%"]
)
def test_an_invalid_value_ends_the_run(declared: str) -> None:
    with pytest.raises(RunAborted) as refused:
        concurrency.limit(declared, clusters=5)
    assert str(refused.value).startswith("cannot continue the updateRun: ")
    assert f'"{declared}"' in str(refused.value)


@given(st.integers(1, 100), st.integers(1, 10_000))
@settings(deadline=None)
def test_a_percentage_gives_between_one_and_all_clusters(percent: int, clusters: int) -> None:
    at_once = concurrency.limit(f"{percent}%", clusters=clusters)
    assert 1 <= at_once <= clusters
    bound = at_once in (1, concurrency.MOST)
    assert bound or at_once * 100 <= percent * clusters < (at_once + 1) * 100


@given(st.integers(1, concurrency.MOST), st.integers(0, 10_000))
@settings(deadline=None)
def test_a_number_stays_that_number_whatever_the_size_of_the_stage(
    number: int, clusters: int
) -> None:
    assert concurrency.limit(number, clusters=clusters) == number
