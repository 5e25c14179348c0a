"""Pieces of Markdown that all generators need."""

import re
from collections.abc import Iterable, Mapping, Sequence

Pages = Mapping[str, str]
"""Text of each page by its path."""


def page(title: str, *parts: str) -> str:
    """A page: its title, then its parts with an empty line between them."""
    return "\n\n".join([f"# {title}", *(part for part in parts if part)]) + "\n"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; an empty text when there are no rows."""
    lines = [_row(row) for row in rows]
    if not lines:
        return ""
    return "\n".join([_row(headings), _row(["---"] * len(headings)), *lines])


def code(text: str, language: str = "") -> str:
    """A block of code."""
    return f"```{language}\n{text.strip()}\n```"


def literal(text: str) -> str:
    """Text as it is typed, within a line; backticks in it included."""
    longest = max((len(each) for each in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def plain(text: str) -> str:
    """Text in which nothing is markup."""
    return re.sub(r"([\\`*_{}\[\]<>#$])", r"\\\1", text)


def navigation(*pages: str) -> str:
    """The pages below this one, for the site's navigation; the page itself shows nothing of it."""
    return "```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```"


def slug(text: str) -> str:
    """The anchor that a heading gets, as GitHub makes it."""
    kept = re.sub(r"[^\w\- ]", "", text.lower())
    return kept.replace(" ", "-")


def _row(cells: Sequence[str]) -> str:
    # A bar ends a cell, in code too.
    return "| " + " | ".join(cell.replace("|", r"\|").replace("\n", " ") for cell in cells) + " |"
