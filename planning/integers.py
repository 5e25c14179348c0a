"""Integers as Go's strconv.Atoi reads them, which is stricter than int().

contract: update-runs 16 (on 7.5d and 7.7)
"""

from typing import Final

_MOST: Final = 2**63 - 1
_DIGITS: Final = 19
"""How many digits the largest number has; int() refuses texts of thousands."""


def parse(text: str) -> int:
    """Read a decimal number of 64 bits.

    Raises:
        ValueError: it is none; the message is Go's.
    """
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f'strconv.Atoi: parsing "{text}": invalid syntax')
    significant = digits.lstrip("0") or "0"
    number = int(significant) if len(significant) <= _DIGITS else _MOST + 2
    number = -number if text.startswith("-") else number
    if not -_MOST - 1 <= number <= _MOST:
        raise ValueError(f'strconv.Atoi: parsing "{text}": value out of range')
    return number


def known(text: str, *, otherwise: int) -> int:
    """Read a count or an index that stands in an object; `otherwise` where it says none.

    Labels and annotations can be edited by hand: what is written there need not be a number.
    """
    try:
        return parse(text)
    except ValueError:
        return otherwise
