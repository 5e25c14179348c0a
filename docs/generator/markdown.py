"""Markdown helpers for all generators."""

import re
from collections.abc import Iterable, Mapping, Sequence

Pages = Mapping[str, str]
"""The text of each page by path."""


def page(title: str, *parts: str) -> str:
    """Return a page: the title, then the parts, separated by empty lines."""
    return "\n\n".join([f"# {title}", *(part for part in parts if part)]) + "\n"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, or an empty text if there are no rows."""
    lines = [_row(row) for row in rows]
    if not lines:
        return ""
    return "\n".join([_row(headings), _row(["---"] * len(headings)), *lines])


def code(text: str, language: str = "") -> str:
    """Return a code block."""
    return f"```{language}\n{text.strip()}\n```"


def literal(text: str) -> str:
    """Return the text as inline code; it may contain backticks."""
    longest = max((len(each) for each in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def plain(text: str) -> str:
    """Return the text with all markup escaped."""
    return re.sub(r"([\\`*_{}\[\]<>#$])", r"\\\1", text)


def navigation(*pages: str) -> str:
    """Return a hidden table of contents with the pages below this one, for the navigation."""
    return "```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```"


def slug(text: str) -> str:
    """Return the anchor of a heading, as GitHub generates it."""
    kept = re.sub(r"[^\w\- ]", "", text.lower())
    return kept.replace(" ", "-")


def _row(cells: Sequence[str]) -> str:
    # A bar ends a cell, even within code.
    return "| " + " | ".join(cell.replace("|", r"\|").replace("\n", " ") for cell in cells) + " |"
