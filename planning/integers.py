"""Integers as Go's strconv.Atoi parses them, which is stricter than int().

contract: update-runs 16 (on 7.5d and 7.7)
"""

from typing import Final

_MOST: Final = 2**63 - 1
_DIGITS: Final = 19
"""Digits of the largest number; int() rejects texts of thousands of digits."""


def parse(text: str) -> int:
    """Parse a 64-bit decimal number.

    Raises:
        ValueError: not such a number; the message is Go's.
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
    """Parse a count or an index from an object; return `otherwise` if it is not a number.

    Labels and annotations can be edited by hand, so they may hold anything.
    """
    try:
        return parse(text)
    except ValueError:
        return otherwise
