"""Patterns that recognize a text, and the explanation that each gives."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Meaning:
    """Explanation of a text: its cause, and what to do about it."""

    cause: str
    cure: str
    commands: tuple[str, ...] = ()
    """Commands that show the problem or fix it."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """Pattern of a text. The other fields may use its named groups in braces."""

    shape: re.Pattern[str]
    cause: str
    cure: str
    commands: tuple[str, ...] = ()

    @classmethod
    def of(cls, shape: str, cause: str, cure: str, *commands: str) -> Self:
        """Return the pattern of a shape that may occur anywhere in a text."""
        return cls(re.compile(shape, re.DOTALL), cause, cure, commands)


def meaning(
    text: str, patterns: Iterable[Pattern], names: Mapping[str, str] | None = None
) -> Meaning | None:
    """Return what the first matching pattern says; its fields may use `names` in braces as well."""
    for pattern in patterns:
        if found := pattern.shape.search(text):
            known = {**(names or {}), **found.groupdict(default="")}
            return Meaning(
                cause=pattern.cause.format_map(known),
                cure=pattern.cure.format_map(known),
                commands=tuple(each.format_map(known) for each in pattern.commands),
            )
    return None
