"""Quantities are parsed as in Kubernetes (contract: placement 2.2, 11)."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity

from planning import quantities

SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]


@given(
    number=st.from_regex(r"[+-]?([0-9]{1,12}(\.[0-9]{0,6})?|\.[0-9]{1,6})", fullmatch=True),
    suffix=st.sampled_from([*SUFFIXES, "e3", "E3", "e-2", "E+1"]),
)
def test_every_quantity_is_parsed_as_by_the_kubernetes_client(number: str, suffix: str) -> None:
    read_by_client = parse_quantity(number + suffix)  # type: ignore[no-untyped-call]
    assert quantities.parse(number + suffix) == read_by_client


@pytest.mark.parametrize(
    "text",
    [
        *("", "abc", ".", "1e", "1Kib", "1ki", "1.2.3", "0x10", "v1.34.4"),
        *(" 1", "1 ", "1_000", "NaN", "Infinity", "१", "1" * 65),
    ],
)
def test_an_invalid_quantity_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity such as 2, 500m or 16Gi"):
        quantities.parse(text)


def test_an_invalid_quantity_is_unknown_and_counts_as_zero() -> None:
    assert quantities.known("v1") is None
    assert quantities.known(None) is None
    assert quantities.known(4) == 4
    assert quantities.total(["500m", "v1", 2]) == Decimal("2.5")


@pytest.mark.parametrize(
    ("amount", "text"),
    [("0", "0"), ("4", "4"), ("2.5", "2500m"), ("0.0001", "1m"), ("4000", "4000")],
)
def test_cpu_is_formatted_in_thousandths(amount: str, text: str) -> None:
    assert quantities.in_thousands(Decimal(amount)) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0"),
        (1023, "1023"),
        (1024, "1Ki"),
        (1536, "1536"),
        (1536 * 1024, "1536Ki"),
        (16 * 1024**3, "16Gi"),
        (1000**3, "1000000000"),
    ],
)
def test_bytes_are_formatted_in_the_largest_exact_unit(amount: int, text: str) -> None:
    written = quantities.in_kibi(Decimal(amount))
    assert written == text
    assert quantities.parse(written) == amount


@pytest.mark.parametrize("exponent", ["e101", "e-101", "e999999", "E99999999999999999999"])
def test_an_excessive_exponent_is_rejected_before_anything_is_computed(exponent: str) -> None:
    with pytest.raises(ValueError, match="is out of range for a quantity"):
        quantities.parse(f"1{exponent}")
    assert quantities.known(f"1{exponent}") is None
