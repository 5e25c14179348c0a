"""Tables without borders, as kubectl prints them, that never exceed a given room.

rich's own tables shrink all columns when space is short, including the names.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

GAP = "  "
LAST_AT_LEAST = 24
"""Minimum width of the last column in cells: enough for the start of a sentence."""
KEPT_FOR = 8
"""Width in cells to which other columns are truncated in favour of one that is kept."""

Row = Sequence[str | Text]


@dataclass(frozen=True, slots=True)
class Room:
    """The space for a table, in cells."""

    width: int
    """Width of a terminal: longer lines are truncated."""
    cut: bool = True
    """Whether anything is truncated; what goes to a file or another program is not."""


def table(
    headings: Row,
    rows: Sequence[Row],
    *,
    room: Room,
    wrap: bool = False,
    keep: int | None = None,
    headed: bool = True,
) -> Text:
    """Lay out rows under headings, if `headed`; the last column gets the remaining width.

    A last cell that is too long is truncated, or with `wrap` continues on the next line. Other
    columns are truncated, widest first, only if the last would get less than LAST_AT_LEAST. The
    column with the index `keep` is only truncated once all others are as narrow as KEPT_FOR.
    """
    cells = [[_text(cell) for cell in row] for row in rows]
    if headed:
        cells.insert(0, [Text(str(heading), style="bold") for heading in headings])
    widths = _widths(cells, room, wrap=wrap, keep=keep) if cells else []
    lines = [line for row in cells for line in _lines(row, widths, wrap=wrap)]
    return Text("\n").join(lines)


def _text(cell: str | Text) -> Text:
    return cell if isinstance(cell, Text) else Text(cell)


def _widths(rows: list[list[Text]], room: Room, *, wrap: bool, keep: int | None) -> list[int]:
    natural = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    *fixed, last = natural
    space = room.width - len(GAP) * len(fixed)
    if not room.cut:
        left = max(space - sum(fixed), LAST_AT_LEAST)
        return [*fixed, min(last, left) if wrap else last]
    excess = sum(fixed) + min(last, LAST_AT_LEAST) - space
    while excess > 0:
        widest = max(range(len(fixed)), key=lambda each: _spare(fixed, each, keep))
        fixed[widest] -= 1
        excess -= 1
    return [*fixed, min(last, space - sum(fixed))]


def _spare(widths: list[int], column: int, keep: int | None) -> tuple[bool, int]:
    """Return how readily a column gives up a cell, as a sort key."""
    return column != keep and widths[column] > KEPT_FOR, widths[column]


def _lines(row: list[Text], widths: list[int], *, wrap: bool) -> list[Text]:
    *fixed, last = row
    cells = [_cell(cell, size) for cell, size in zip(fixed, widths, strict=False)]
    start = Text("").join(Text.assemble(cell, GAP) for cell in cells)
    parts = _wrapped(last, widths[-1]) if wrap else [_cut(last, widths[-1])]
    blank = Text(" " * start.cell_len)
    lines = [
        Text.assemble(start if position == 0 else blank, part)
        for position, part in enumerate(parts)
    ]
    for line in lines:
        line.rstrip()
    return lines


def _cell(text: Text, size: int) -> Text:
    cell = _cut(text, size)
    cell.pad_right(size - cell.cell_len)
    return cell


def _cut(text: Text, size: int) -> Text:
    cell = text.copy()
    cell.truncate(size, overflow="ellipsis")
    return cell


def _wrapped(text: Text, size: int) -> list[Text]:
    """Return lines of at most `size` cells, broken between words where possible."""
    lines: list[Text] = []
    rest = text.copy()
    while rest.cell_len > size:
        space = rest.plain.rfind(" ", 1, size + 1)
        head, rest = rest.divide([space if space > 0 else size])
        lines.append(head)
        rest = rest[1:] if rest.plain.startswith(" ") else rest
    return [*lines, rest]
