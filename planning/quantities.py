"""Kubernetes quantities, such as `1500m` processors or `16Gi` of memory.

The client's own parser is out of reach here, because planning knows no API client; besides, it
takes for a number what an API server refuses (`NaN`, `1_000`).

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
"""Characters that a quantity can sensibly have."""
_MOST_EXPONENT: Final = 100
"""Beyond what anything has; to write `1e999999` out would take a megabyte and a second."""


def parse(text: str | int) -> Decimal:
    """Read a quantity.

    Raises:
        ValueError: it is none.
    """
    found = _GRAMMAR.fullmatch(str(text)[: _LONGEST + 1])
    if found is None or len(found.group()) > _LONGEST:
        raise ValueError(f'"{text}" is not a quantity such as 2, 500m or 16Gi')
    exponent = int((found["exponent"] or "e0")[1:])
    if abs(exponent) > _MOST_EXPONENT:
        raise ValueError(f'"{text}" is no quantity that anything could have')
    return Decimal(found["number"]).scaleb(exponent) * _FACTORS[found["suffix"] or ""]


def known(text: str | int | None) -> Decimal | None:
    """Read a quantity that somebody else has written; None where there is none to read."""
    if text is None:
        return None
    try:
        return parse(text)
    except ValueError:
        return None


def total(values: Iterable[str | int]) -> Decimal:
    """The sum of quantities; what is none counts nothing."""
    return sum((known(each) or Decimal(0) for each in values), Decimal(0))


def in_thousands(amount: Decimal) -> str:
    """Write an amount as the API does where thousands count (processors): `2`, `1500m`."""
    if amount == amount.to_integral_value():
        return f"{int(amount)}"
    return f"{int((amount * 1000).to_integral_value(rounding='ROUND_CEILING'))}m"


def in_kibi(amount: Decimal) -> str:
    """Write an amount as the API does where 1024 counts (bytes): `16Gi`, `1536Ki`."""
    whole = int(amount.to_integral_value(rounding="ROUND_CEILING"))
    for suffix, factor in reversed(_BINARY.items()):
        if whole and whole % int(factor) == 0:
            return f"{whole // int(factor)}{suffix}"
    return f"{whole}"
