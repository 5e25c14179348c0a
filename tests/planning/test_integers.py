"""Integers are parsed as by Go's strconv.Atoi (contract: update-runs 16)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planning import integers


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("+0", 0),
        ("-0", 0),
        ("007", 7),
        ("-3", -3),
        ("+12", 12),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("0" * 5000 + "1", 1),
    ],
)
def test_a_decimal_number_is_parsed(text: str, number: int) -> None:
    assert integers.parse(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+",
        "-",
        " 0",
        "0 ",
        "1_0",
        "0x1",
        "1.0",
        "1e3",
        "--1",
        "\u0661",
        "\u00b2",
        "\uff11",
        "1\n",
    ],
)
def test_anything_else_is_invalid_syntax(text: str) -> None:
    with pytest.raises(ValueError, match="invalid syntax") as refused:
        integers.parse(text)
    assert str(refused.value) == f'strconv.Atoi: parsing "{text}": invalid syntax'


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775809", "9" * 5000])
def test_more_than_64_bits_are_out_of_range(text: str) -> None:
    with pytest.raises(ValueError, match="value out of range") as refused:
        integers.parse(text)
    assert str(refused.value) == f'strconv.Atoi: parsing "{text}": value out of range'


@given(st.integers(-(2**63), 2**63 - 1))
@settings(deadline=None)
def test_every_64_bit_number_is_parsed(number: int) -> None:
    assert integers.parse(str(number)) == number


@given(st.text(max_size=30))
def test_an_invalid_number_in_an_object_gives_the_default(text: str) -> None:
    try:
        expected = integers.parse(text)
    except ValueError:
        expected = -1
    assert integers.known(text, otherwise=-1) == expected
