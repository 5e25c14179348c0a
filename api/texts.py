"""Texts with parameters: written in one place, filled in there, and read back by the same template.

What a text says is data first. A text is read back only where the hub is the only one that still
has it: from a condition or an event that an earlier process wrote.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from string import Formatter


@dataclass(frozen=True)
class Text:
    """A text with parameters in braces, as `str.format` has them."""

    template: str

    def fill(self, **parameters: object) -> str:
        """Return the text with its parameters filled in."""
        return self.template.format(**parameters)

    def read(self, text: str) -> dict[str, str] | None:
        """Return the parameters that make this text; None if none do."""
        found = self._shape.fullmatch(text)
        return found.groupdict() if found else None

    def find(self, text: str) -> dict[str, str] | None:
        """Return the parameters of the text's first occurrence in a longer text, or None.

        A parameter at the very end of the template takes the rest.
        """
        found = self._shape.search(text)
        return found.groupdict() if found else None

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters, in their order."""
        return [name for _, name, _, _ in Formatter().parse(self.template) if name]

    @cached_property
    def _shape(self) -> re.Pattern[str]:
        parts = list(Formatter().parse(self.template))
        shape = ""
        for position, (literal, name, _, _) in enumerate(parts):
            shape += re.escape(literal)
            if name:
                last = position == len(parts) - 1
                shape += f"(?P<{name}>{'.*' if last else '.*?'})"
        return re.compile(shape, re.DOTALL)
