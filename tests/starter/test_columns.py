"""Tables stay within their width and keep names readable for as long as possible."""

from rich.text import Text

from starter import columns
from starter.columns import Room

LONG = "waiting for the approval of a stage with a name that is really rather long"


def lines(table: Text) -> list[str]:
    return table.plain.splitlines()


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    table = columns.table(["NAME", "AGE"], [["a", "1s"], ["longer", "2s"]], room=Room(100))
    assert lines(table) == ["NAME    AGE", "a       1s", "longer  2s"]


def test_the_last_column_is_truncated_first() -> None:
    table = columns.table(["NAME", "NOW"], [["example-run", LONG]], room=Room(50))
    assert lines(table)[1] == "example-run  waiting for the approval of a stage wi…"[:49] + "…"
    assert all(len(line) <= 50 for line in lines(table))


def test_the_widest_other_column_is_truncated_when_the_last_has_no_space() -> None:
    table = columns.table(["NAME", "AGE", "NOW"], [["n" * 60, "1s", LONG]], room=Room(60))
    line = lines(table)[1]
    assert len(line) <= 60
    assert line.split()[0].endswith("n…")
    assert "1s" in line


def test_a_column_that_is_kept_is_truncated_last() -> None:
    def first_two(width: int) -> list[str]:
        rows = [["n" * 20, "p" * 16, LONG]]
        table = columns.table(["NAME", "PLACEMENT", "NOW"], rows, room=Room(width), keep=0)
        return lines(table)[1].split()[:2]

    assert first_two(56) == ["n" * 20, "p" * 7 + "…"]
    assert first_two(50) == ["n" * 13 + "…", "p" * 7 + "…"]


def test_a_wrapped_cell_continues_below_itself() -> None:
    text = "one two three four five six seven"
    table = columns.table(["TYPE", "MESSAGE"], [["Ready", text]], room=Room(31), wrap=True)
    assert lines(table) == [
        "TYPE   MESSAGE",
        "Ready  one two three four five",
        "       six seven",
    ]


def test_a_word_longer_than_the_column_is_broken() -> None:
    table = columns.table(["A", "B"], [["x", "y" * 50]], room=Room(27), wrap=True)
    assert lines(table) == ["A  B", f"x  {'y' * 24}", f"   {'y' * 24}", "   yy"]


def test_a_table_that_is_not_for_a_terminal_is_never_truncated() -> None:
    rows = [["n" * 60, "p" * 50, LONG]]
    table = columns.table(["NAME", "PLACEMENT", "NOW"], rows, room=Room(80, cut=False))
    assert lines(table)[1].split(maxsplit=2) == rows[0]


def test_text_is_wrapped_beside_columns_that_are_not_truncated() -> None:
    rows = [["n" * 60, "one two three four five six seven"]]
    table = columns.table(["NAME", "NOW"], rows, room=Room(40, cut=False), wrap=True)
    assert lines(table)[1:] == [f"{'n' * 60}  one two three four five", f"{' ' * 62}six seven"]


def test_headings_can_be_left_out() -> None:
    table = columns.table(["NAME", "AGE"], [["a", "1s"]], room=Room(100), headed=False)
    assert lines(table) == ["a  1s"]


def test_a_single_column_starts_at_the_margin() -> None:
    assert lines(columns.table(["NAME"], [["a"]], room=Room(100))) == ["NAME", "a"]
