"""Texts that are recognized by their shape, and what is to be said about them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a text means to a person."""

    cause: str
    cure: str
    commands: tuple[str, ...] = ()
    """What to type to see or mend it."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One shape of text. What its named groups match stands in braces in the other fields."""

    shape: re.Pattern[str]
    cause: str
    cure: str
    commands: tuple[str, ...] = ()

    @classmethod
    def of(cls, shape: str, cause: str, cure: str, *commands: str) -> Self:
        """A shape to be found anywhere in a text."""
        return cls(re.compile(shape, re.DOTALL), cause, cure, commands)


def meaning(
    text: str, patterns: Iterable[Pattern], names: Mapping[str, str] | None = None
) -> Meaning | None:
    """What the first pattern that fits says; `names` may stand in braces as well."""
    for pattern in patterns:
        if found := pattern.shape.search(text):
            known = {**(names or {}), **found.groupdict(default="")}
            return Meaning(
                cause=pattern.cause.format_map(known),
                cure=pattern.cure.format_map(known),
                commands=tuple(each.format_map(known) for each in pattern.commands),
            )
    return None
