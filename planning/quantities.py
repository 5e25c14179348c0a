"""Kubernetes quantities, such as `1500m` of CPU or `16Gi` of memory.

The Kubernetes client's parser is not used, because planning does not import the client; it also
accepts numbers that an API server rejects (`NaN`, `1_000`).

contract: placement 2.2 (property selectors and sorters), 11 (properties)
"""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Final

_GRAMMAR: Final = re.compile(
    r"(?P<number>[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+))"
    r"((?P<exponent>[eE][+-]?[0-9]+)|(?P<suffix>[KMGTPE]i|[numkMGTPE])?)"
)
_BINARY: Final = {f"{letter}i": Decimal(1024) ** n for n, letter in enumerate("KMGTPE", start=1)}
_DECIMAL: Final = {letter: Decimal(10) ** (3 * n) for n, letter in enumerate("kMGTPE", start=1)}
_SMALL: Final = {letter: Decimal(10) ** (-3 * n) for n, letter in enumerate("mun", start=1)}
_FACTORS: Final = {"": Decimal(1)} | _BINARY | _DECIMAL | _SMALL
_LONGEST: Final = 64
"""Characters that a quantity can reasonably have."""
_MOST_EXPONENT: Final = 100
"""More than any real quantity; writing out `1e999999` would take a megabyte and a second."""


def parse(text: str | int) -> Decimal:
    """Parse a quantity.

    Raises:
        ValueError: the text is not a quantity, or out of range.
    """
    found = _GRAMMAR.fullmatch(str(text)[: _LONGEST + 1])
    if found is None or len(found.group()) > _LONGEST:
        raise ValueError(f'"{text}" is not a quantity such as 2, 500m or 16Gi')
    exponent = int((found["exponent"] or "e0")[1:])
    if abs(exponent) > _MOST_EXPONENT:
        raise ValueError(f'"{text}" is out of range for a quantity')
    return Decimal(found["number"]).scaleb(exponent) * _FACTORS[found["suffix"] or ""]


def known(text: str | int | None) -> Decimal | None:
    """Parse a quantity from an object; return None if there is none or it is not valid."""
    if text is None:
        return None
    try:
        return parse(text)
    except ValueError:
        return None


def total(values: Iterable[str | int]) -> Decimal:
    """Return the sum of quantities; invalid ones count as zero."""
    return sum((known(each) or Decimal(0) for each in values), Decimal(0))


def in_thousands(amount: Decimal) -> str:
    """Format an amount as the API does for decimal units (CPU): `2`, `1500m`."""
    if amount == amount.to_integral_value():
        return f"{int(amount)}"
    return f"{int((amount * 1000).to_integral_value(rounding='ROUND_CEILING'))}m"


def in_kibi(amount: Decimal) -> str:
    """Format an amount as the API does for binary units (bytes): `16Gi`, `1536Ki`."""
    whole = int(amount.to_integral_value(rounding="ROUND_CEILING"))
    for suffix, factor in reversed(_BINARY.items()):
        if whole and whole % int(factor) == 0:
            return f"{whole // int(factor)}{suffix}"
    return f"{whole}"
