"""What a look at one thing gives: a verdict, what was found, and what to do about it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How one thing is."""

    OK = "ok"
    WARNING = "warning"
    """It works, and somebody should know."""
    PROBLEM = "problem"
    """Something does not work, or will not, until somebody acts."""
    UNKNOWN = "unknown"
    """It could not be looked at."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    verdict: Verdict
    about: str
    """What was looked at, such as `member west-1`."""
    says: str
    """What was found, in words."""
    advice: str = ""
    """What to do about it, in words; empty where nothing is, or another finding says it."""
    commands: tuple[str, ...] = ()
    """The same, to be typed."""


def ok(about: str, says: str) -> Finding:
    """It is as it should be."""
    return Finding(Verdict.OK, about, says)


def warning(about: str, says: str, *, advice: str, commands: Iterable[str] = ()) -> Finding:
    """It works, and somebody should know."""
    return Finding(Verdict.WARNING, about, says, advice, tuple(commands))


def problem(about: str, says: str, *, advice: str, commands: Iterable[str] = ()) -> Finding:
    """It does not work."""
    return Finding(Verdict.PROBLEM, about, says, advice, tuple(commands))


def unknown(about: str, says: str, *, advice: str = "", commands: Iterable[str] = ()) -> Finding:
    """It could not be looked at."""
    return Finding(Verdict.UNKNOWN, about, says, advice, tuple(commands))
