"""The check of words finds them wherever people read them."""

import subprocess
from pathlib import Path

import pytest

from tests.language.reading import Word, uses, words

PROGRAM = '''"""Tidy up anew."""

DONE = "all is said"  # anew, each time
anew = 1
'''


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    files = {
        "README.md": "First.\n\nThen anew.\n",
        "hub/tidy.py": PROGRAM,
        "docs/contract/placement.md": "Anew is KubeFleet's word.\n",
        "tests/test_tidy.py": '"""Anew."""\n',
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    (tmp_path / "hub" / "generated.md").write_text("Anew.\n")
    return tmp_path


def test_a_word_is_found_in_prose_docstrings_strings_and_comments(clone: Path) -> None:
    found = {(each.path, each.line) for each in uses(clone, words())}
    assert found == {("README.md", 3), ("hub/tidy.py", 1), ("hub/tidy.py", 3)}


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        ("The run goes on.", "goes on"),
        ("Nobody has planned it.", "Nobody has"),
        ("It is empty if there is none.", ""),
        ("There is none.", "There is none"),
        ("Recommend a repair and amend it.", ""),
    ],
)
def test_a_word_is_found_only_where_it_is_odd(text: str, odd: str) -> None:
    def find(word: Word) -> list[str]:
        return [match[0] for match in word.find.finditer(text)]

    assert [each for word in words() for each in find(word)] == ([odd] if odd else [])
