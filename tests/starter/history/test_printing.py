"""Printing a history as a table, JSON, CSV and Markdown."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta

import pytest

from starter.columns import Room
from starter.history import printing
from starter.history.entries import HistoryEntry, What
from starter.history.forms import Form

AT = datetime(2026, 1, 2, 3, 4, 5, 678900, tzinfo=UTC)


def approved(comment: str) -> HistoryEntry:
    return HistoryEntry(AT, What.APPROVED, "before", "prod", who="alice", comment=comment)


def cells(comment: str) -> list[str]:
    """Return the cells of a CSV line."""
    text = printing.WRITERS[Form.CSV]([approved(comment)])
    heads, line = csv.reader(io.StringIO(text))
    assert heads == ["at", "what", "side", "stage", "cluster", "who", "comment"]
    return line


def test_json_has_one_object_for_each_entry() -> None:
    assert json.loads(printing.WRITERS[Form.JSON]([approved("fine")])) == [
        {
            "at": "2026-01-02T03:04:05.678900+00:00",
            "what": "approved",
            "side": "before",
            "stage": "prod",
            "cluster": "",
            "who": "alice",
            "comment": "fine",
        }
    ]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", " ="])
def test_no_cell_of_a_spreadsheet_is_a_formula(start: str) -> None:
    cell = cells(f"{start}HYPERLINK(1)")[-1]
    assert cell.startswith("'")
    assert cell.endswith("HYPERLINK(1)")


def test_a_comment_stays_one_cell_of_a_spreadsheet() -> None:
    assert cells('two,\r\n"quoted"; and = in it')[-1] == 'two,  "quoted"; and = in it'


def test_markdown_in_a_comment_is_escaped() -> None:
    text = printing.WRITERS[Form.MARKDOWN]([approved("a|b\n<img> `c` [d](e) \\")])
    assert text.splitlines() == [
        "| when (UTC) | what | stage | cluster | who | comment |",
        "| --- | --- | --- | --- | --- | --- |",
        (
            "| 2026-01-02 03:04:05 | approved | before prod |  | alice |"
            " a\\|b \\<img\\> \\`c\\` \\[d\\](e) \\\\ |"
        ),
    ]


def test_a_comment_cannot_move_the_cursor_of_a_terminal() -> None:
    shown = printing.table([approved("\x1b[2Jgone\x07")], room=Room(100)).plain
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "approved  before prod" in shown


def test_the_day_is_shown_if_there_are_several() -> None:
    one = printing.table([approved("a")], room=Room(100)).plain
    assert " 2026" not in one
    assert one.splitlines()[1].startswith(f"{AT.astimezone():%H:%M:%S}  approved")
    two = printing.table(
        [approved("a"), HistoryEntry(AT + timedelta(days=2), What.DELETED)], room=Room(100)
    )
    assert two.plain.splitlines()[1].startswith(f"{AT.astimezone():%b %d %H:%M:%S}  approved")


def test_a_long_comment_is_shown_to_its_end() -> None:
    comment = " ".join(["word"] * 40)
    shown = printing.table([approved(comment)], room=Room(100)).plain
    assert shown.count("word") == 40
    assert max(map(len, shown.splitlines())) <= 100
