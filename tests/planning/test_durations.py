"""Durations are parsed and formatted as in Go (contract: update-runs 2.2 and 3)."""

import re
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planning.durations import format_duration, parse

UNITS = {"h": timedelta(hours=1), "m": timedelta(minutes=1), "s": timedelta(seconds=1)}
WAIT_TIME = re.compile(r"^(?:(?:0|[1-9][0-9]*)(\.[0-9]+)?(?:s|m|h))+$")
"""The pattern of waitTime: every value that the API server accepts must be parsed."""


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("1m", "1m0s"),
        ("90s", "1m30s"),
        ("1h30m", "1h30m0s"),
        ("24h", "24h0m0s"),
        ("0s", "0s"),
        ("1.5h", "1h30m0s"),
        ("100m", "1h40m0s"),
        ("0h0m0s", "0s"),
        ("0.5s", "500ms"),
        ("0.0015s", "1.5ms"),
        ("0.0001s", "100µs"),
        ("1.5s", "1.5s"),
        ("59.9999s", "59.9999s"),
        ("1m1s1m", "2m1s"),
        ("2562047h", "2562047h0m0s"),
    ],
)
def test_a_duration_is_formatted_as_in_go(typed: str, written: str) -> None:
    assert format_duration(parse(typed)) == written


@pytest.mark.parametrize(
    "text",
    ["", "1", "1d", "s", "0abc", "-5s", "+5s", "1 m", "1m ", "1h30", "5M", "\u0665m", "1..5s"],
)
def test_an_invalid_duration_is_rejected_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match="write it like 90s, 5m or 1h30m") as refused:
        parse(text)
    assert str(refused.value).startswith(repr(text))


@pytest.mark.parametrize("text", ["2562048h", "99999999999999h", "1" * 400 + "h"])
def test_a_duration_longer_than_gos_maximum_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="is too long for a duration"):
        parse(text)


@given(st.timedeltas(min_value=timedelta(0), max_value=timedelta(hours=2562046)))
@settings(deadline=None)
def test_parsing_a_formatted_duration_gives_the_same(value: timedelta) -> None:
    assert abs(parse(format_duration(value)) - value) <= timedelta(microseconds=1)


@given(st.lists(st.tuples(st.integers(0, 1000), st.sampled_from(sorted(UNITS))), min_size=1))
@settings(deadline=None)
def test_the_parts_of_a_duration_add_up(parts: list[tuple[int, str]]) -> None:
    text = "".join(f"{number}{unit}" for number, unit in parts)
    assert parse(text) == sum((number * UNITS[unit] for number, unit in parts), timedelta(0))


@given(st.from_regex(WAIT_TIME, fullmatch=True))
@settings(deadline=None)
def test_every_wait_that_the_api_server_accepts_is_valid_or_too_long(text: str) -> None:
    try:
        found = parse(text)
    except ValueError as error:
        assert "is too long" in str(error)  # noqa: PT017 - either outcome is right
    else:
        assert found >= timedelta(0)
