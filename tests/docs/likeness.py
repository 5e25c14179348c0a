"""Compares an output with what a page shows, except for what differs each time."""

import re

_DIFFERENT = (
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\S*"), "TIME"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "TIME"),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "UID"),
    # Names of pods; names of bindings and Works.
    (re.compile(r"-[0-9a-z]{8,10}-[0-9a-z]{5}\b"), "-HASH"),
    (re.compile(r"-[0-9a-f]{8}\b"), "-HASH"),
    (re.compile(r"127\.0\.0\.1:\d+"), "ADDRESS"),
    (re.compile(r"(/[\w.-]+)*/\.fleetgate\b"), "/FOLDER"),
    # Ages and durations; `<1s` is shorter than the API can measure.
    (re.compile(r"<1s|\b\d+(\.\d+)?(ms|[smhd])(\d+[smh])?\b"), "AGE"),
    (re.compile(r"<unknown>|<invalid>"), "AGE"),
    # Estimates, which depend on ages and are not always shown.
    (re.compile(r"; left: .+"), ""),
    (re.compile(r"[━─]{2,}"), "BAR"),
    # A slow command may see that more clusters have started.
    (re.compile(r"(?<= begins: )([\w-]+)(, [\w-]+)+"), r"\1"),
)
ELLIPSIS = "..."
"""The line in a page that stands for any number of lines."""


def plain(line: str) -> str:
    """Return the line with everything that differs each time replaced by a placeholder."""
    for pattern, stands_for in _DIFFERENT:
        line = pattern.sub(stands_for, line)
    return line


def alike(shown: list[str], printed: list[str]) -> bool:
    """Return whether a command printed what the page shows, ignoring alignment and wrapping."""
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
