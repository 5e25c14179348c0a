"""Which texts people see, and the words in them that they would not say themselves."""

import ast
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

ROOT: Final = Path(__file__).parent.parent.parent
WORDS: Final = Path(__file__).parent / "words.yaml"
_PLACES: Final = (
    ":(glob)*.md", "worker.py", "activities", "agent", "api", "bridge", "deploy", "docs", "hub",
    "placement", "planning", "starter", "telemetry", "wiring", "workflows",
)  # fmt: skip
_SUFFIXES: Final = {".py", ".md", ".yaml", ".txt", ".tpl"}
CONTRACT: Final = "docs/contract/"
"""KubeFleet's behaviour in KubeFleet's words."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word or phrase that is not to be used."""

    find: re.Pattern[str]
    write: str
    """What to write instead."""


@dataclass(frozen=True, slots=True)
class Use:
    """A place where such a word is used."""

    path: str
    line: int
    found: str
    write: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.found!r}: write {self.write}"


def words(path: Path = WORDS) -> list[Word]:
    """Read the list."""
    return [
        Word(re.compile(rf"\b(?:{find})\b", re.IGNORECASE), write)
        for find, write in yaml.safe_load(path.read_text()).items()
    ]


def uses(root: Path, wanted: list[Word]) -> Iterator[Use]:
    """Yield each use of the words in the texts of a clone."""
    for path in _files(root):
        name = str(path.relative_to(root))
        for line, text in _texts(path):
            for word in wanted:
                for match in word.find.finditer(text):
                    below = text.count("\n", 0, match.start())
                    yield Use(name, line + below, match[0], word.write)


def _files(root: Path) -> Iterator[Path]:
    """Yield the files that the repository holds, without what is generated from them."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *_PLACES], cwd=root, capture_output=True, text=True, check=True
    )
    for name in sorted(listed.stdout.split("\0")):
        path = root / name
        if path.suffix in _SUFFIXES and not name.startswith(CONTRACT):
            yield path


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield texts with the line on which each begins; of a program its strings and comments."""
    text = path.read_text()
    if path.suffix != ".py":
        yield 1, text
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
    for number, line in enumerate(text.splitlines(), start=1):
        if comment := re.search(r"(?:^|\s)# (.*)", line):
            yield number, comment[1]
