"""The commands that a page of the documentation has its reader type, with the expected outputs.

A block of language `console` is typed line by line: `$ ` starts a command, and the lines after it
are its output. A block whose first line is `# NAME.yaml` is a file that the reader saves. A block
that cannot be typed here is preceded by the comment `<!-- not run: REASON -->`. Commands in a
comment that begins with `<!-- given` are typed too; they create objects that readers already have.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

FOLDER = Path(__file__).parent.parent.parent / "docs"
TYPED = "console"
SHELLS = frozenset({TYPED, "sh", "bash", "shell"})
_FILE = re.compile(r"# ([\w.-]+\.(?:yaml|json|sh))\n")
_NOT_RUN = re.compile(r"<!-- not run: (.+?) -->", re.DOTALL)
_GIVEN = re.compile(r"<!-- given\n(.*?)-->", re.DOTALL)
_PROMPT = "$ "


@dataclass
class Step:
    """A command and the lines that it prints."""

    command: str
    line: int
    """Its line number in the page, from 1."""
    output: list[str] = field(default_factory=list)
    shown: bool = True
    """True when the reader sees it."""


@dataclass(frozen=True)
class File:
    """A file that the reader saves in their folder."""

    name: str
    text: str


@dataclass(frozen=True)
class NotRun:
    """A block that a test cannot type."""

    reason: str
    line: int


Part = Step | File | NotRun


def all_pages() -> list[str]:
    """Return the paths of all hand-written pages, relative to the folder."""
    found = [path.relative_to(FOLDER) for path in FOLDER.rglob("*.md")]
    written = [path for path in found if path.parts[0] not in {"_build", "reference"}]
    return sorted(str(path) for path in written)


def typed_pages() -> list[str]:
    """Return the paths of the pages with commands to type."""
    return [name for name in all_pages() if _is_typed((FOLDER / name).read_text())]


def _is_typed(text: str) -> bool:
    return any(isinstance(part, Step) for part in parts(text))


def parts(text: str) -> Iterator[Part]:
    """Yield the steps of a page in order; raises AssertionError for commands left untyped."""
    reason = ""
    for token in _blocks(text):
        if token.type == "html_block":
            yield from _given(token)
            found = _NOT_RUN.match(token.content)
            reason = " ".join(found[1].split()) if found else ""
        else:
            yield from [NotRun(reason, _line(token))] if reason else _fence(token)
            reason = ""


def _blocks(text: str) -> Iterator[Token]:
    tokens = MarkdownIt().parse(text)
    return (token for token in tokens if token.type in {"fence", "html_block"})


def _line(token: Token) -> int:
    assert token.map is not None
    return token.map[0] + 1


def _fence(token: Token) -> Iterator[Part]:
    language = token.info.strip()
    if language == TYPED:
        yield from _steps(token.content, first=_line(token) + 1)
    elif found := _FILE.match(token.content):
        yield File(found[1], token.content)
    else:
        assert language not in SHELLS, f"line {_line(token)}: write `console`, or why it is not run"


def _given(token: Token) -> Iterator[Part]:
    found = _GIVEN.match(token.content)
    for step in _steps(found[1], first=_line(token) + 1) if found else ():
        step.shown = False
        yield step


def _steps(text: str, *, first: int) -> Iterator[Step]:
    step: Step | None = None
    open_until = ""
    for number, line in enumerate(text.splitlines(), start=first):
        if step and open_until:
            step.command += f"\n{line}"
            open_until = _open_until(line, open_until)
        elif line.startswith(_PROMPT):
            yield from [step] if step else []
            step = Step(line.removeprefix(_PROMPT), number)
            open_until = _open_until(line, "")
        else:
            assert step, f"line {number}: an output before the first command"
            step.output.append(line)
    yield from [step] if step else []


def _open_until(line: str, before: str) -> str:
    """Return what ends the command that this line belongs to; empty if this line ends it."""
    if before == "EOF":
        return "" if line == "EOF" else "EOF"
    if "<<EOF" in line or "<<'EOF'" in line:
        return "EOF"
    return "\n" if line.endswith("\\") else ""
