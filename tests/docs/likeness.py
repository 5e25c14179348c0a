"""Whether an output is what a page shows, but for what is different each time."""

import re

_DIFFERENT = (
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\S*"), "TIME"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "TIME"),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "UID"),
    # Names of pods, then of bindings and Works.
    (re.compile(r"-[0-9a-z]{8,10}-[0-9a-z]{5}\b"), "-HASH"),
    (re.compile(r"-[0-9a-f]{8}\b"), "-HASH"),
    (re.compile(r"127\.0\.0\.1:\d+"), "ADDRESS"),
    (re.compile(r"(/[\w.-]+)*/\.fleetgate\b"), "/FOLDER"),
    # kubectl's resource versions, ages and durations; `<1s` is what the API cannot measure.
    (re.compile(r"<1s|\b\d+(\.\d+)?(ms|[smhd])(\d+[smh])?\b"), "AGE"),
    (re.compile(r"<unknown>|<invalid>"), "AGE"),
    # Guesses, which come and go with the ages that they are made from.
    (re.compile(r"; left: .+"), ""),
    (re.compile(r"[━─]{2,}"), "BAR"),
    # A look that comes late finds that further clusters have begun.
    (re.compile(r"(?<= begins: )([\w-]+)(, [\w-]+)+"), r"\1"),
)
ELLIPSIS = "..."
"""A line of a page that stands for any number of lines."""


def plain(line: str) -> str:
    """A line without what is different each time."""
    for pattern, stands_for in _DIFFERENT:
        line = pattern.sub(stands_for, line)
    return line


def alike(shown: list[str], printed: list[str]) -> bool:
    """Whether a command printed what the page shows, however it is aligned and wrapped."""
    pieces: list[list[str]] = [[]]
    for line in shown:
        if line.strip() == ELLIPSIS:
            pieces.append([])
        else:
            pieces[-1].append(line)
    pattern = ".*".join(re.escape(_words(piece)) for piece in pieces)
    return re.fullmatch(pattern, _words(printed)) is not None


def _words(lines: list[str]) -> str:
    return "".join(f"{word} " for line in lines for word in plain(line).split())
