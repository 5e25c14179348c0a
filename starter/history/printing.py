"""Printing a run's history: for people, for programs, for a spreadsheet, for a report."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from enum import StrEnum
from typing import Final

from rich.text import Text

from starter import columns
from starter.history.entries import Entry


class Form(StrEnum):
    """How a history is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


FORMULA: Final = ("=", "+", "-", "@")
"""With these a spreadsheet takes a cell for a formula, and would run what somebody wrote into a
comment; an apostrophe before it makes it a text."""
_SPECIAL: Final = re.compile(r"[\\`*_\[\]<>&|]")
"""What Markdown would take for more than a character."""
_FIELDS: Final = [each.name for each in fields(Entry)]
_HEADINGS: Final = ["WHEN", "WHAT", "STAGE", "CLUSTER", "WHO", "COMMENT"]


def table(entries: Sequence[Entry], *, width: int) -> Text:
    """A table in local time; long comments go on in the next line."""
    rows = [[_visible(cell) for cell in _row(each, each.at.astimezone())] for each in entries]
    return columns.table(_HEADINGS, rows, width=width, wrap=True)


def _row(entry: Entry, at: datetime) -> list[str]:
    what = f"{entry.what} {entry.side}".strip()
    return [f"{at:%Y-%m-%d %H:%M:%S}", what, entry.stage, entry.cluster, entry.who, entry.comment]


def _visible(text: str) -> str:
    """On one line, and without what would move the cursor or colour the terminal."""
    return "".join(each if each.isprintable() else " " for each in text)


def as_json(entries: Sequence[Entry]) -> str:
    """A list with one object for each entry."""
    return json.dumps([each.cells() for each in entries], indent=2)


def as_csv(entries: Sequence[Entry]) -> str:
    """Comma-separated values with a line of headings; no cell is a formula."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(_FIELDS)
    writer.writerows([_inert(cell) for cell in each.cells().values()] for each in entries)
    return written.getvalue().rstrip("\n")


def _inert(cell: str) -> str:
    text = _visible(cell)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text


def as_markdown(entries: Sequence[Entry]) -> str:
    """A table for a report, in UTC."""
    rows = [[_quoted(cell) for cell in _row(each, each.at)] for each in entries]
    heads = [["when (UTC)", *(each.lower() for each in _HEADINGS[1:])], ["---"] * len(_HEADINGS)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [*heads, *rows])


def _quoted(cell: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", _visible(cell))


WRITERS: Final[Mapping[Form, Callable[[Sequence[Entry]], str]]] = {
    Form.JSON: as_json,
    Form.CSV: as_csv,
    Form.MARKDOWN: as_markdown,
}
"""How each form but the table is made, which depends on the terminal."""
