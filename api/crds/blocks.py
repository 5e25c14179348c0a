"""Writes plain data as YAML in block style, as people write it.

Covers what CRDs consist of: non-empty mappings and lists, strings, numbers and booleans.
`api` depends on nothing but pydantic, so it cannot use a YAML library.
"""

import json
import re
import textwrap
from collections.abc import Iterator
from typing import Any

_WIDTH = 100
# What every version of YAML reads as a string without quotes.
_PLAIN = re.compile(r"\.?[A-Za-z/]([A-Za-z0-9/._ ,;()<>=+-]*[A-Za-z0-9/.,;)])?")
_NOT_STRINGS = frozenset(
    {"true", "false", "yes", "no", "on", "off", "null", "y", "n", ".inf", ".nan"}
)


def to_yaml(data: dict[str, Any]) -> str:
    """Format a mapping as YAML; keys keep their order."""
    return "".join(f"{line}\n" for line in _mapping(data, indent=""))


def _mapping(data: dict[str, Any], *, indent: str) -> Iterator[str]:
    for key, value in data.items():
        match value:
            case dict() if value:
                yield f"{indent}{_scalar(key)}:"
                yield from _mapping(value, indent=f"{indent}  ")
            case list() if value:
                yield f"{indent}{_scalar(key)}:"
                yield from _sequence(value, indent=indent)
            case str() if len(indent) + len(key) + len(value) > _WIDTH and _folds(value):
                yield f"{indent}{_scalar(key)}: >-"
                yield from _folded(value, indent=f"{indent}  ")
            case _:
                yield f"{indent}{_scalar(key)}: {_scalar(value)}"


def _sequence(items: list[Any], *, indent: str) -> Iterator[str]:
    for item in items:
        if isinstance(item, dict) and item:
            first, *rest = _mapping(item, indent=f"{indent}  ")
            yield f"{indent}- {first[len(indent) + 2 :]}"
            yield from rest
        else:
            yield f"{indent}- {_scalar(item)}"


def _scalar(value: object) -> str:
    if isinstance(value, str) and _is_plain(value):
        return value
    return json.dumps(value)


def _is_plain(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None and text.lower() not in _NOT_STRINGS


def _folds(text: str) -> bool:
    return text == " ".join(text.split())


def _folded(text: str, *, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        width=_WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
