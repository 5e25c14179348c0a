"""Printing a run's history: as a table, JSON, CSV or Markdown."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Final

from rich.text import Text

from starter import columns
from starter.columns import Room
from starter.history.entries import HistoryEntry
from starter.history.forms import Form

FORMULA: Final = ("=", "+", "-", "@")
"""A spreadsheet treats a cell that starts with one of these as a formula and would execute what
someone wrote in a comment; a leading apostrophe makes the cell text."""
_SPECIAL: Final = re.compile(r"[\\`*_\[\]<>&|]")
"""Characters with a meaning in Markdown."""
_FIELDS: Final = [each.name for each in fields(HistoryEntry)]
_HEADINGS: Final = ["WHEN", "WHAT", "STAGE", "CLUSTER", "WHO", "COMMENT"]


def table(entries: Sequence[HistoryEntry], *, room: Room) -> Text:
    """Return a table in local time, with days if there are several; long comments are wrapped."""
    times = [each.at.astimezone() for each in entries]
    form = "%H:%M:%S" if len({at.date() for at in times}) == 1 else "%b %d %H:%M:%S"
    rows = [
        [at.strftime(form), *map(_visible, _cells(each))]
        for each, at in zip(entries, times, strict=True)
    ]
    return columns.table(_HEADINGS, rows, room=room, wrap=True)


def _cells(entry: HistoryEntry) -> list[str]:
    stage = f"{entry.side} {entry.stage}".strip()
    return [str(entry.what), stage, entry.cluster, entry.who, entry.comment]


def _visible(text: str) -> str:
    """Return the text on one line, without characters that control the terminal."""
    return "".join(each if each.isprintable() else " " for each in text)


def as_json(entries: Sequence[HistoryEntry]) -> str:
    """Return a JSON list with one object for each entry."""
    return json.dumps([each.cells() for each in entries], indent=2)


def as_csv(entries: Sequence[HistoryEntry]) -> str:
    """Return comma-separated values with a header line; no cell is a formula."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(_FIELDS)
    writer.writerows([_inert(cell) for cell in each.cells().values()] for each in entries)
    return written.getvalue().rstrip("\n")


def _inert(cell: str) -> str:
    text = _visible(cell)
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text


def as_markdown(entries: Sequence[HistoryEntry]) -> str:
    """Return a Markdown table for a report, in UTC."""
    rows = [
        [f"{each.at:%Y-%m-%d %H:%M:%S}", *(_quoted(cell) for cell in _cells(each))]
        for each in entries
    ]
    heads = [["when (UTC)", *(each.lower() for each in _HEADINGS[1:])], ["---"] * len(_HEADINGS)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [*heads, *rows])


def _quoted(cell: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", _visible(cell))


WRITERS: Final[Mapping[Form, Callable[[Sequence[HistoryEntry]], str]]] = {
    Form.JSON: as_json,
    Form.CSV: as_csv,
    Form.MARKDOWN: as_markdown,
}
"""Writers of all formats but the table, which depends on the terminal."""
