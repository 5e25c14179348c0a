"""README's picture of a terminal shows what the recording types."""

import html
import re

import pytest

from tests.docs.recording import IMAGE, SHOWN, draw


def words(svg: str) -> str:
    """Return the text of an image, one line per row of the terminal."""
    rows: dict[float, str] = {}
    for y, text in re.findall(r'<text [^>]*y="([\d.]+)"[^>]*>(.*?)</text>', svg):
        rows[float(y)] = rows.get(float(y), "") + html.unescape(text).replace("\xa0", " ")
    return "\n".join(rows[y].rstrip() for y in sorted(rows))


@pytest.mark.parametrize("command", SHOWN)
def test_the_picture_in_readme_shows_the_commands_of_the_recording(command: str) -> None:
    assert f"$ {command}" in words(IMAGE.read_text()), "python -m tests.docs.recording FOLDER"


def test_a_picture_has_each_command_with_its_output_and_loads_nothing() -> None:
    svg = draw([("fleetgate run list", ["NAME", "\x1b[32mv1\x1b[0m   <done>"])])
    assert {"$ fleetgate run list", "NAME", "v1   <done>"} <= set(words(svg).splitlines())
    assert "url(http" not in svg
