"""Tables stay within their width and keep names readable for as long as possible."""

from rich.text import Text

from starter import columns

LONG = "waiting for the approval of a stage with a name that is really rather long"


def lines(table: Text) -> list[str]:
    return table.plain.splitlines()


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    table = columns.table(["NAME", "AGE"], [["a", "1s"], ["longer", "2s"]], width=100)
    assert lines(table) == ["NAME    AGE", "a       1s", "longer  2s"]


def test_the_last_column_is_truncated_first() -> None:
    table = columns.table(["NAME", "NOW"], [["example-run", LONG]], width=50)
    assert lines(table)[1] == "example-run  waiting for the approval of a stage wi…"[:49] + "…"
    assert all(len(line) <= 50 for line in lines(table))


def test_the_widest_other_column_is_truncated_when_the_last_has_no_space() -> None:
    table = columns.table(["NAME", "AGE", "NOW"], [["n" * 60, "1s", LONG]], width=60)
    line = lines(table)[1]
    assert len(line) <= 60
    assert line.split()[0].endswith("n…")
    assert "1s" in line


def test_a_column_that_is_kept_is_truncated_last() -> None:
    def first_two(width: int) -> list[str]:
        rows = [["n" * 20, "p" * 16, LONG]]
        table = columns.table(["NAME", "PLACEMENT", "NOW"], rows, width=width, keep=0)
        return lines(table)[1].split()[:2]

    assert first_two(56) == ["n" * 20, "p" * 7 + "…"]
    assert first_two(50) == ["n" * 13 + "…", "p" * 7 + "…"]


def test_a_wrapped_cell_continues_below_itself() -> None:
    text = "one two three four five six seven"
    table = columns.table(["TYPE", "MESSAGE"], [["Ready", text]], width=31, wrap=True)
    assert lines(table) == [
        "TYPE   MESSAGE",
        "Ready  one two three four five",
        "       six seven",
    ]


def test_a_word_longer_than_the_column_is_broken() -> None:
    table = columns.table(["A", "B"], [["x", "y" * 50]], width=27, wrap=True)
    assert lines(table) == ["A  B", f"x  {'y' * 24}", f"   {'y' * 24}", "   yy"]
